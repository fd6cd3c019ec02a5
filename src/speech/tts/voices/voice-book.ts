/** The voice book, `models/voices.json`: genders of speakers' names, and each engine's voice for an agent's voice. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const variantSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9]+$/),
  /** Brings the variant to `LOUDNESS_DBFS`, measured on the telephone's band. */
  gainDb: z.number().min(-20).max(20),
});

const espeakNameSchema = z.string().regex(/^[A-Za-z0-9/-]+$/);

const bookSchema = z.object({
  names: z.object({ female: z.array(z.string()), male: z.array(z.string()) }),
  /** The offered voices: speakers' names by locale. */
  ids: z.record(z.string().regex(/^[a-z]{2,3}-[A-Z]{2}$/), z.array(z.string()).min(1)),
  espeak: z.object({
    wordsPerMinute: z.number().int().min(80).max(450),
    fallbackLanguage: z.string(),
    languages: z.record(z.string(), espeakNameSchema),
    locales: z.record(z.string(), espeakNameSchema),
    variants: z.object({
      female: z.array(variantSchema).min(1),
      male: z.array(variantSchema).min(1),
    }),
  }),
});

/** Every other key is a neural engine's name: its own voice by an agent's voice. */
const engineSchema = z.object({ voices: z.record(z.string(), z.string()) });

const voiceBookSchema = bookSchema
  .catchall(engineSchema)
  .transform(({ names, ids, espeak, ...engines }) => {
    const neural: Readonly<Record<string, z.infer<typeof engineSchema>>> = engines;
    return { names, ids, espeak, neural };
  });

/** Facts about voices, for every engine. */
export type VoiceBook = z.infer<typeof voiceBookSchema>;

/** The server's own voice book. */
export const VOICE_BOOK_FILE = new URL('../../../../models/voices.json', import.meta.url);

/** @throws {Error} naming the file, when it cannot be read or does not fit. */
export async function loadVoiceBook(file: URL | string = VOICE_BOOK_FILE): Promise<VoiceBook> {
  try {
    return voiceBookSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`Cannot load the voices from "${file}": ${why}`, { cause: error });
  }
}
