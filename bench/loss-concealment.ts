/**
 * Loss concealment: phrases over G.711 lines that lose packets, with the losses concealed or replaced by zeros. Word
 * errors of the tiny recogniser, the log-spectral distance to what was sent, and the processor's time for a lost packet.
 *
 * The distance stands in for an opinion score: npm has no free, maintained estimator of it (PESQ and POLQA need licences).
 */
import { FRAME_SAMPLES } from '../src/media/audio-stream.ts';
import { decodeG711, encodeG711 } from '../src/media/dsp/g711.ts';
import { LossConcealment } from '../src/media/dsp/loss-concealment.ts';
import { wordErrors } from '../src/speech/self-test/self-test.ts';
import type { Recognizer } from '../src/speech/stt/pool/recognizer.ts';
import { openRecognizer } from '../src/speech/stt/whisper/whisper-recognizer.ts';
import { TINY_WHISPER_DIR } from '../test/speech/spoken-phrases.ts';
import { heardOver, lostPackets } from '../test/support/speech/loss/lossy-line.ts';
import { logSpectralDistanceDb } from '../test/support/speech/loss/sound-distance.ts';
import { checkTargets, markdownTable, numberArg, printJson } from './lib/harness.ts';
import { type SpokenPhrase, speakSample } from './lib/spoken-sample.ts';

const LINES = [
  { lossPercent: 1, burst: 1 },
  { lossPercent: 3, burst: 1 },
  { lossPercent: 5, burst: 1 },
  { lossPercent: 10, burst: 1 },
  { lossPercent: 10, burst: 3 },
] as const;

/** Silence around a phrase, as the turn around a voice has it. */
const EDGE_SAMPLES = 300 * 8;

const TIMED_LOSSES = 20_000;

interface Figures {
  readonly errors: number;
  readonly words: number;
  readonly distanceDb: number;
}

/** `npm run bench -- loss-concealment [--count 100] [--seed 1] [--gate]`; needs espeak-ng, and a minute. */
export async function run(args: readonly string[]): Promise<void> {
  const spoken = await speakSample(numberArg(args, 'count', 100), numberArg(args, 'seed', 1));
  const phrases = spoken.map((phrase) => ({ ...phrase, pcm: overLine(phrase.pcm) }));
  const recognizer = await openRecognizer(TINY_WHISPER_DIR);
  const rows = [];
  for (const line of LINES) {
    const ours = await measure(recognizer, phrases, { ...line, filling: 'concealed' });
    const peer = await measure(recognizer, phrases, { ...line, filling: 'zeros' });
    rows.push({ ...line, ours, peer });
  }
  await recognizer.close();
  const lostPacketUs = timeOfLossUs(phrases);

  console.log(markdownTable(rows.map(rowOf)));
  console.log(`A lost packet costs ${lostPacketUs.toFixed(1)} us`);
  printJson({ bench: 'loss-concealment', phrases: phrases.length, rows, lostPacketUs });
  check(args, rows, lostPacketUs);
}

interface LineResult {
  readonly lossPercent: number;
  readonly burst: number;
  readonly ours: Figures;
  readonly peer: Figures;
}

function rowOf({ lossPercent, burst, ours, peer }: LineResult) {
  return {
    line: burst === 1 ? `${lossPercent} % at random` : `${lossPercent} % in bursts of ${burst}`,
    'word errors, %': percentOf(ours),
    'with zeros, %': percentOf(peer),
    'distance, dB': ours.distanceDb,
    'with zeros, dB': peer.distanceDb,
  };
}

function percentOf({ errors, words }: Figures): number {
  return (100 * errors) / words;
}

function check(args: readonly string[], rows: readonly LineResult[], lostPacketUs: number): void {
  const sum = (of: (row: LineResult) => number) => rows.reduce((total, row) => total + of(row), 0);
  checkTargets(args, [
    {
      name: 'log-spectral distance, of that with zeros, worst line',
      value: Math.max(...rows.map(({ ours, peer }) => ours.distanceDb / peer.distanceDb)),
      limit: 0.85,
      tolerance: 0,
    },
    {
      name: 'word errors of all lines, of those with zeros',
      value: sum(({ ours }) => ours.errors) / sum(({ peer }) => peer.errors),
      limit: 1,
      tolerance: 0,
    },
    {
      name: 'processor time of a lost packet, us',
      value: lostPacketUs,
      limit: 100,
      tolerance: 0.1,
    },
  ]);
}

/** The phrase as it leaves the far end: through mu-law, in whole packets. */
function overLine(pcm: Int16Array): Int16Array {
  const packets = Math.ceil((pcm.length + 2 * EDGE_SAMPLES) / FRAME_SAMPLES);
  const sound = new Int16Array(packets * FRAME_SAMPLES);
  sound.set(pcm, EDGE_SAMPLES);
  return decodeG711('PCMU', encodeG711('PCMU', sound));
}

async function measure(
  recognizer: Recognizer,
  phrases: readonly SpokenPhrase[],
  line: Omit<LineResult, 'ours' | 'peer'> & { readonly filling: 'concealed' | 'zeros' },
): Promise<Figures> {
  let [errors, words, distanceDb] = [0, 0, 0];
  for (const [index, { text, language, pcm }] of phrases.entries()) {
    const lost = lostPackets(pcm.length / FRAME_SAMPLES, { ...line, seed: index + 1 });
    const heard = heardOver(pcm, lost, line.filling);
    const utterance = recognizer.open({ language });
    utterance.push(heard);
    const { signal } = new AbortController();
    const recognition = await utterance.transcribe({ isFinal: true, signal });
    const result = wordErrors(text, recognition.text);
    errors += result.errors;
    words += result.words;
    distanceDb += logSpectralDistanceDb(pcm, heard) / phrases.length;
  }
  return { errors, words, distanceDb };
}

/** Mean time of a lost packet in the middle of speech, with the pitch search and the join after it. */
function timeOfLossUs(phrases: readonly SpokenPhrase[]): number {
  const concealment = new LossConcealment();
  const frames = phrases.flatMap(({ pcm }) =>
    Array.from({ length: pcm.length / FRAME_SAMPLES }, (_, packet) =>
      pcm.slice(packet * FRAME_SAMPLES, (packet + 1) * FRAME_SAMPLES),
    ),
  );
  const passUs = (isLosing: boolean) => {
    const startedAt = process.cpuUsage();
    for (let loss = 0; loss < TIMED_LOSSES; loss += 1) {
      concealment.hear((frames[loss % frames.length] as Int16Array).slice());
      if (isLosing) concealment.conceal(FRAME_SAMPLES);
    }
    const { user, system } = process.cpuUsage(startedAt);
    return (user + system) / TIMED_LOSSES;
  };
  passUs(true);
  return passUs(true) - passUs(false);
}
