/** Reads the description of a Wyoming server: models and languages of its recognisers, and its voices. */
import { WyomingConnection } from './wyoming-connection.ts';

/** A model of a recogniser, or a voice. */
export interface WyomingArtifact {
  readonly name: string;
  /** As the server writes them, such as `en`, `en_US`, `en-us`; empty where it does not tell. */
  readonly languages: readonly string[];
  /** Of a voice that has several. */
  readonly speakers: readonly string[];
}

export interface WyomingInfo {
  /** Null where it recognises no speech. */
  readonly models: readonly WyomingArtifact[] | null;
  /** Null where it does not speak. */
  readonly voices: readonly WyomingArtifact[] | null;
  /** Whether text can be sent in pieces, and each sentence is spoken as soon as it is there. */
  readonly takesTextStream: boolean;
}

/** Longer lists are cut. */
const LIST_MAX = 2000;

/**
 * Asks a server what it offers.
 *
 * @throws {Error} naming the fault.
 * @throws the signal's reason when aborted.
 */
export async function describeWyoming(address: string, signal: AbortSignal): Promise<WyomingInfo> {
  const connection = new WyomingConnection(address, signal).send('describe');
  for await (const { type, data } of connection.events()) {
    if (type === 'info') return wyomingInfo(data);
  }
  throw new Error('it closed the connection without describing itself');
}

/**
 * Reads the data of an `info` event; what is not installed is left out.
 *
 * @see README.md of OHF-Voice/wyoming, "Info"; wyoming/info.py
 */
export function wyomingInfo(data: Readonly<Record<string, unknown>>): WyomingInfo {
  const recognizers = installed(data.asr);
  const synthesizers = installed(data.tts);
  return {
    models: recognizers.length === 0 ? null : artifactsIn(recognizers, 'models'),
    voices: synthesizers.length === 0 ? null : artifactsIn(synthesizers, 'voices'),
    takesTextStream:
      synthesizers.length > 0 &&
      synthesizers.every(({ supports_synthesize_streaming: takes }) => takes === true),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function artifactsIn(
  programs: readonly Fields[],
  list: 'models' | 'voices',
): readonly WyomingArtifact[] {
  return programs
    .flatMap((program) => installed(program[list]))
    .flatMap(({ name, languages, speakers }) => {
      const [own] = textsIn([name]);
      if (own === undefined) return [];
      const names = objectsIn(speakers).map((speaker) => speaker.name);
      return [{ name: own, languages: textsIn(languages), speakers: textsIn(names) }];
    });
}

function installed(list: unknown): readonly Fields[] {
  return objectsIn(list).filter((artifact) => artifact.installed !== false);
}

function objectsIn(list: unknown): readonly Fields[] {
  return entriesOf(list).filter(
    (entry): entry is Fields => typeof entry === 'object' && entry !== null,
  );
}

function textsIn(list: unknown): readonly string[] {
  return entriesOf(list).filter(
    (entry): entry is string => typeof entry === 'string' && entry !== '',
  );
}

function entriesOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list.slice(0, LIST_MAX) : [];
}
