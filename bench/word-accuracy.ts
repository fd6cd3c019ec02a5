/**
 * Word errors of our recogniser on unseen voices: the 800 utterances of models/README.md, compared with the figure
 * there, clean and with noise on the line.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeG711, encodeG711 } from '../src/media/dsp/g711.ts';
import { wordErrors } from '../src/speech/self-test/self-test.ts';
import { EspeakWave } from '../src/speech/tts/espeak/sentence-job.ts';
import { seededChance } from '../test/support/speech/onnx-file.ts';
import { checkTargets, markdownTable, numberArg, printJson } from './lib/harness.ts';
import { type BenchRecognizer, openOurRecognizer } from './lib/recognizers.ts';

const MODELS_DIR = join(import.meta.dirname, '../models');

/** What `gen.py test 800 --seed 99` says, and how: the utterances of the figure. */
const LIST = join(MODELS_DIR, 'train/unseen-800.tsv');

/** As the figure was made: half of espeak-ng's level, and so much silence on either side. */
const GAIN_DB = 20 * Math.log10(0.5);
const SILENCE_SAMPLES = 2400;

/** Between the power of the voice and that of white noise; Infinity is the line as it was for the figure. */
const SNRS_DB = [Infinity, 20, 10] as const;

/** The promise. */
const WORSE_POINTS_MAX = 2;

const SPEAKING_MAX = 4;
const WAV_BYTES_MAX = 4 * 1024 * 1024;

interface Utterance {
  readonly language: string;
  readonly text: string;
  /** As the line brings it without noise: 8 kHz. */
  readonly pcm: Int16Array;
}

/** `npm run bench -- word-accuracy [--count 800] [--gate]`; needs the espeak-ng program, and a minute. */
export async function run(args: readonly string[]): Promise<void> {
  const count = numberArg(args, 'count', 800);
  const utterances = await speakAll(count);
  const recognizer = await openOurRecognizer();
  const stated = statedPercent();
  const rows = [];
  for (const snrDb of SNRS_DB)
    rows.push({ stated, ...(await hearAll(recognizer, utterances, snrDb)) });
  await recognizer.close();

  console.log(markdownTable(rows.map(rowOf)));
  printJson({ bench: 'word-accuracy', rows });
  checkTargets(
    args,
    rows
      .filter(({ snrDb }) => snrDb >= 20)
      .map(({ snrDb, percent }) => ({
        name: `word errors, ${lineOf(snrDb)}, beyond models/README.md, points`,
        value: percent - stated,
        limit: WORSE_POINTS_MAX,
        tolerance: 0,
      })),
  );
}

/** @throws {Error} when models/README.md has no such figure. */
function statedPercent(): number {
  const readme = readFileSync(join(MODELS_DIR, 'README.md'), 'utf8');
  const match = /\| word error rate \| 800 utterances, language given \| ([\d.]+) % \|/.exec(
    readme,
  );
  if (match === null) throw new Error('Cannot read the word error rate in "models/README.md"');
  return Number(match[1]);
}

async function speakAll(count: number): Promise<readonly Utterance[]> {
  const [, ...lines] = readFileSync(LIST, 'utf8').trimEnd().split('\n');
  const wanted = lines.slice(0, count);
  const spoken: Utterance[] = [];
  for (let first = 0; first < wanted.length; first += SPEAKING_MAX) {
    spoken.push(...(await Promise.all(wanted.slice(first, first + SPEAKING_MAX).map(speak))));
  }
  return spoken;
}

async function speak(line: string): Promise<Utterance> {
  const [language = '', text = '', voice = '', speed = '', pitch = ''] = line.split('\t');
  const options = ['-v', voice, '-s', speed, '-p', pitch, '--stdout', text];
  const { stdout } = await promisify(execFile)('espeak-ng', options, {
    encoding: 'buffer',
    maxBuffer: WAV_BYTES_MAX,
  });
  const wave = new EspeakWave({ gainDb: GAIN_DB, pauseAfterMs: 0 });
  const voiced = [...wave.push(stdout), ...wave.end()];
  const pcm = new Int16Array(voiced.length + 2 * SILENCE_SAMPLES);
  pcm.set(voiced, SILENCE_SAMPLES);
  return { language, text, pcm };
}

async function hearAll(
  recognizer: BenchRecognizer,
  utterances: readonly Utterance[],
  snrDb: number,
) {
  const chance = seededChance(1);
  let [errors, words, right] = [0, 0, 0];
  for (const { language, text, pcm } of utterances) {
    const line = decodeG711('PCMU', encodeG711('PCMU', withNoise(pcm, snrDb, chance)));
    const result = wordErrors(text, await recognizer.hear(line, language));
    errors += result.errors;
    words += result.words;
    if (result.errors === 0) right += 1;
  }
  const { length } = utterances;
  const percent = (100 * errors) / words;
  return {
    snrDb,
    utterances: length,
    errors,
    words,
    percent,
    rightPercent: (100 * right) / length,
  };
}

/** White noise, so far below the mean power of the voice. */
function withNoise(pcm: Int16Array, snrDb: number, chance: () => number): Int16Array {
  if (snrDb === Infinity) return pcm;
  const power = pcm.reduce((sum, sample) => sum + sample * sample, 0);
  const level = Math.sqrt(power / (pcm.length - 2 * SILENCE_SAMPLES)) * 10 ** (-snrDb / 20);
  // Even chance between -1 and 1 has a third of the power of its ends.
  return pcm.map((sample) => sample + (chance() * 2 - 1) * level * Math.sqrt(3));
}

function rowOf(result: Awaited<ReturnType<typeof hearAll>> & { readonly stated: number }) {
  return {
    line: lineOf(result.snrDb),
    utterances: result.utterances,
    'word errors, %': result.percent,
    'models/README.md, %': result.snrDb === Infinity ? result.stated : '',
    'sentences right, %': result.rightPercent,
  };
}

function lineOf(snrDb: number): string {
  return snrDb === Infinity ? 'G.711' : `G.711, white noise ${snrDb} dB below`;
}
