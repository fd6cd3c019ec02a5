/** A server of embeddings for tests: Ollama's and OpenAI's protocol, with vectors of a few meanings. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Each list is one direction. */
const MEANINGS = [
  ['price', 'cost', 'euros', 'expensive', 'pay'],
  ['open', 'hours', 'nine', 'time', 'pressed'],
  ['dog', 'animal', 'pets', 'cat'],
] as const;

/** One request as the server saw it. */
export interface EmbeddingRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly input: readonly string[];
}

/** Answers a request in another way than with vectors; false where it does not. */
export type Mischief = (response: ServerResponse, request: EmbeddingRequest) => boolean;

/** Starts one that ends with the test. */
export async function startEmbeddings(mischief: Mischief = () => false) {
  const requests: EmbeddingRequest[] = [];
  let closed = 0;
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) closed += 1;
    });
    void read(request).then((asked) => {
      requests.push(asked);
      if (!mischief(response, asked)) answer(response, asked);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, closed: () => closed };
}

async function read(request: IncomingMessage): Promise<EmbeddingRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { authorization } = request.headers;
  return {
    path: request.url ?? '',
    authorization,
    ...JSON.parse(Buffer.concat(chunks).toString()),
  };
}

function answer(response: ServerResponse, { path, input }: EmbeddingRequest): void {
  const vectors = input.map(vectorOf);
  const data = vectors.map((embedding, index) => ({ index, embedding })).reverse();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(path === '/api/embed' ? { embeddings: vectors } : { data }));
}

/** A little of everything, so that no text is without a direction. */
function vectorOf(text: string): readonly number[] {
  const words = text.toLowerCase().match(/\w+/g) ?? [];
  return MEANINGS.map(
    (of) => 0.01 + words.filter((word) => (of as readonly string[]).includes(word)).length,
  );
}
