/** The voice book, `models/voices.json`: genders of speakers' names, and each engine's voice for an agent's voice. */
import { readFile } from 'node:fs/promises';

/** A variant of espeak-ng's voice. */
interface EspeakVariant {
  readonly name: string;
  /** Brings the variant to `LOUDNESS_DBFS`, measured on the telephone's band. */
  readonly gainDb: number;
}

/** Facts about voices, for every engine. */
export interface VoiceBook {
  readonly names: { readonly female: readonly string[]; readonly male: readonly string[] };
  /** The offered voices: speakers' names by locale. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly espeak: {
    readonly wordsPerMinute: number;
    readonly fallbackLanguage: string;
    readonly languages: Readonly<Record<string, string>>;
    readonly locales: Readonly<Record<string, string>>;
    readonly variants: {
      readonly female: readonly EspeakVariant[];
      readonly male: readonly EspeakVariant[];
    };
  };
  /** Voices of each neural engine, by an agent's voice. */
  readonly neural: Readonly<Record<string, { readonly voices: Readonly<Record<string, string>> }>>;
}

/** The server's own voice book. */
export const VOICE_BOOK_FILE = new URL('../../../../models/voices.json', import.meta.url);

/**
 * Loads a voice book. The file comes with the server, and a test checks every entry of it: here only its parts are looked for.
 *
 * @throws {Error} naming the file, when it cannot be read or a part is missing.
 */
export async function loadVoiceBook(file: URL | string = VOICE_BOOK_FILE): Promise<VoiceBook> {
  try {
    const { names, ids, espeak, ...neural } = JSON.parse(await readFile(file, 'utf8'));
    const missing = Object.entries({ names, ids, espeak }).find(([, part]) => part === undefined);
    if (missing !== undefined) throw new Error(`it has no "${missing[0]}"`);
    return { names, ids, espeak, neural };
  } catch (error) {
    throw new Error(`Cannot load the voices from "${file}": ${String(error)}`, { cause: error });
  }
}
