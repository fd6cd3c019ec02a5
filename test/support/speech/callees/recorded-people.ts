/** Recorded people, and music on hold, of Debian's Asterisk packages. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { VoicedSpan } from '../../../../src/speech/vad/vad-gate.ts';

const FOLDER = '/usr/share/asterisk';
const RATE_HZ = 8000;

/** Folder of each person's prompts, and its Debian package. */
const PACKAGES = {
  es_MX_f_Allison: 'asterisk-core-sounds-es-wav',
  it_IT_m_Carlo: 'asterisk-core-sounds-it-wav',
  ru_RU_f_IvrvoiceRU: 'asterisk-core-sounds-ru-wav',
} as const;
const MUSIC_PACKAGE = 'asterisk-moh-opsound-wav';

/** A person with recorded prompts. */
export type RecordedPerson = keyof typeof PACKAGES;

export const RECORDED_PEOPLE = Object.keys(PACKAGES) as readonly RecordedPerson[];

/** Packages that are not installed. */
export const missingRecordings: readonly string[] = [
  ...RECORDED_PEOPLE.filter((person) => !existsSync(join(FOLDER, 'sounds', person))).map(
    (person) => PACKAGES[person],
  ),
  ...(existsSync(join(FOLDER, 'moh')) ? [] : [MUSIC_PACKAGE]),
];

/** @returns a prompt, 8 kHz, at this level, without silence around it. */
export function promptOf(person: RecordedPerson, name: string, levelDbfs: number): Int16Array {
  const pcm = readWave(join(FOLDER, 'sounds', person, `${name}.wav`));
  const voiced = new VoicedSpan();
  voiced.push(pcm);
  const { startMs, endMs } = voiced.span;
  const spoken = pcm.subarray((startMs * RATE_HZ) / 1000, (endMs * RATE_HZ) / 1000);
  const power = spoken.reduce((sum, sample) => sum + sample ** 2, 0) / spoken.length;
  const gain = (32_768 * 10 ** (levelDbfs / 20)) / Math.sqrt(power);
  return spoken.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

/** Screams of monkeys. */
const NO_SPEECH = 'tt-monkeys.wav';

/** @returns the longest prompts of a person that are shorter than `secondsMax`, 8 kHz, by file. */
export function longPromptsOf(
  person: RecordedPerson,
  { count, secondsMax }: { readonly count: number; readonly secondsMax: number },
): ReadonlyMap<string, Int16Array> {
  const folder = join(FOLDER, 'sounds', person);
  const sizeMax = secondsMax * RATE_HZ * 2;
  const size = (name: string) => statSync(join(folder, name)).size;
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.wav') && name !== NO_SPEECH && size(name) < sizeMax)
    .sort((one, other) => size(other) - size(one))
    .slice(0, count);
  return new Map(names.map((name) => [`${person}/${name}`, readWave(join(folder, name))]));
}

/** @returns the pieces of music on hold, 8 kHz. */
export function musicOnHold(): readonly Int16Array[] {
  const folder = join(FOLDER, 'moh');
  const names = readdirSync(folder).filter((name) => name.endsWith('.wav'));
  return names.map((name) => readWave(join(folder, name)));
}

/** The samples of a 16-bit mono file of 8 kHz. */
function readWave(path: string): Int16Array {
  const bytes = readFileSync(path);
  if (bytes.readUInt32LE(24) !== RATE_HZ) throw new RangeError(`"${path}" is not of 8 kHz`);
  const data = bytes.indexOf('data') + 8;
  return new Int16Array(Uint8Array.from(bytes.subarray(data, bytes.length & ~1)).buffer);
}
