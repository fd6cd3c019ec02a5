/** Loads `models/voices.json`: which names are women's and men's, and which voice each engine has for them. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const variantSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9]+$/),
  /** Brings the variant to `LOUDNESS_DBFS`, measured on the telephone's band. */
  gainDb: z.number().min(-20).max(20),
});

const espeakNameSchema = z.string().regex(/^[A-Za-z0-9/-]+$/);

const voiceBookSchema = z.object({
  names: z.object({ female: z.array(z.string()), male: z.array(z.string()) }),
  /** The voices that are offered: by locale, the names of the speakers. */
  ids: z.record(z.string().regex(/^[a-z]{2,3}-[A-Z]{2}$/), z.array(z.string()).min(1)),
  /** Which of an engine's own voices to take for an agent's, where it is installed. */
  kokoro: z.object({ voices: z.record(z.string(), z.string()) }),
  piper: z.object({ voices: z.record(z.string(), z.string()) }),
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

/** Facts about voices, for every engine. */
export type VoiceBook = z.infer<typeof voiceBookSchema>;

/** The book that comes with the server. */
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
