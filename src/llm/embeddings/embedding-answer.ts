/** Answers of embedding servers; a file of its own, so that a start does not load zod for them. */
import { z } from 'zod';

/** Protocols of embedding servers. */
export type EmbeddingProtocol = 'ollama' | 'openai';

const vectors = z.array(z.array(z.number()).min(1).max(8192));

const ollamaAnswer = z.object({ embeddings: vectors });

const openAiAnswer = z.object({
  data: z.array(z.object({ index: z.number(), embedding: vectors.element })),
});

type ReadVectors = (answer: unknown) => readonly (readonly number[])[] | undefined;

/** A vector for each text, in the order of the texts; undefined where the answer has another form. */
export const readVectors: Readonly<Record<EmbeddingProtocol, ReadVectors>> = {
  ollama: (answer) => ollamaAnswer.safeParse(answer).data?.embeddings,
  openai: (answer) =>
    openAiAnswer
      .safeParse(answer)
      .data?.data.toSorted((one, other) => one.index - other.index)
      .map(({ embedding }) => embedding),
};
