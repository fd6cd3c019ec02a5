/**
 * Babble: callers with people talking, a street or white noise around them, through G.711, Silero as it comes with Offhook and
 * the tiny recogniser. The peer is the same scores without the rule that background talk is no voice of the caller's.
 *
 * The tiny recogniser has learnt from synthetic voices with such noise: only the difference to the peer counts.
 */
import { decodeG711, encodeG711 } from '../src/media/dsp/g711.ts';
import type { VoiceEvent } from '../src/speech/hearing/hearing.ts';
import { wordErrors } from '../src/speech/self-test/self-test.ts';
import {
  type VoiceShare,
  withoutHallucination,
} from '../src/speech/stt/decoding/hallucination-gate.ts';
import type { Recognizer } from '../src/speech/stt/pool/recognizer.ts';
import { openRecognizer } from '../src/speech/stt/whisper/whisper-recognizer.ts';
import { openVoiceDetector } from '../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../src/speech/vad/silero/silero-engine.ts';
import { VadGate } from '../src/speech/vad/vad-gate.ts';
import { type Vad, VadTrack } from '../src/speech/vad/vad-track.ts';
import { TINY_WHISPER_DIR } from '../test/speech/spoken-phrases.ts';
import { babble } from '../test/support/speech/babble.ts';
import { nonSpeech } from '../test/support/speech/non-speech.ts';
import { detectorFolder } from './lib/detector-folder.ts';
import { checkTargets, markdownTable, numberArg, printJson } from './lib/harness.ts';
import { type SpokenPhrase, speakSample } from './lib/spoken-sample.ts';

const SAMPLES_PER_MS = 8;
const WINDOW_SAMPLES = 256;
const WINDOW_MS = WINDOW_SAMPLES / SAMPLES_PER_MS;

/** Background alone before a phrase, as while the agent speaks, and after it. */
const BEFORE_MS = 6000;
const AFTER_MS = 1500;

/** A turn ends after this pause; its audio begins and ends so much outside the voice. */
const TURN_PAUSE_MS = 700;
const EDGE_MS = 300;

const LINES = [
  { name: 'clean', background: null, belowDb: 0 },
  ...[20, 10, 5].map((belowDb) => ({ name: 'babble of 8', background: babble(8, 20, 0), belowDb })),
  ...[30, 10].map((belowDb) => ({ name: 'babble of 4', background: babble(4, 20, 0), belowDb })),
  { name: 'babble of 16', background: babble(16, 20, 0), belowDb: 10 },
  { name: 'traffic', background: nonSpeech('traffic', 20), belowDb: 10 },
  { name: 'white noise', background: nonSpeech('loud white noise', 20), belowDb: 10 },
] as const;

/** A stretch of the caller's voice as the server would have it recognised. */
interface Turn {
  readonly fromMs: number;
  toMs: number;
  voice: VoiceShare;
}

interface CallHeard {
  readonly pcm: Int16Array;
  readonly phrase: SpokenPhrase;
  readonly track: VadTrack;
  readonly plainGate: VadGate;
  readonly turns: Turn[];
  readonly plainTurns: Turn[];
}

/** `npm run bench -- babble [--count 60] [--seed 1] [--gate]`; needs espeak-ng, and two minutes. */
export async function run(args: readonly string[]): Promise<void> {
  const phrases = await speakSample(numberArg(args, 'count', 60), numberArg(args, 'seed', 1));
  const folder = await detectorFolder(bundledSilero());
  const detector = await openVoiceDetector(`${folder.path}/vad/silero_vad.onnx`);
  const recognizer = await openRecognizer(TINY_WHISPER_DIR);
  const rows = [];
  for (const line of LINES) {
    const calls = phrases.map((phrase, index) => ring(detector, phrase, line, index));
    const cpuPercent = await listen(detector, calls);
    const ours = await recognize(recognizer, calls, 'turns');
    const peer = await recognize(recognizer, calls, 'plainTurns');
    const name = line.background === null ? line.name : `${line.name}, ${line.belowDb} dB below`;
    rows.push({ name, ours, peer, cpuPercent });
  }
  await Promise.all([detector.close(), recognizer.close()]);
  folder.remove();

  console.log(markdownTable(rows.map(rowOf)));
  printJson({ bench: 'babble', calls: phrases.length, rows });
  check(args, rows);
}

type Result = Awaited<ReturnType<typeof recognize>>;

interface LineResult {
  readonly name: string;
  readonly ours: Result;
  readonly peer: Result;
  readonly cpuPercent: number;
}

function rowOf({ name, ours, peer, cpuPercent }: LineResult) {
  return {
    ...{ line: name, 'word errors, %': ours.percent, 'without the rule, %': peer.percent },
    'turns without the caller, a minute': ours.falseTurns,
    'without the rule': peer.falseTurns,
    'VAD, % of a core a call': cpuPercent,
  };
}

function check(args: readonly string[], rows: readonly LineResult[]): void {
  const at = (name: string) => rows.find((row) => row.name === name);
  const noisier = rows.filter(({ name }) => !name.startsWith('babble'));
  const loud = at('babble of 8, 10 dB below');
  const beyond = noisier.map(({ ours, peer }) => ours.percent - peer.percent);
  checkTargets(args, [
    {
      name: 'word errors over babble of 8 at 10 dB, of those without the rule',
      value: (loud?.ours.percent ?? Number.NaN) / (loud?.peer.percent ?? Number.NaN),
      limit: 2 / 3,
      tolerance: 0,
    },
    {
      name: 'word errors beyond those without the rule, clean, traffic and white noise, points',
      value: Math.max(...beyond),
      limit: 0,
      tolerance: 0,
    },
    {
      name: 'voice detector, % of a core a call',
      value: Math.max(...rows.map(({ cpuPercent }) => cpuPercent)),
      limit: 0.35,
      tolerance: 0.1,
    },
  ]);
}

function ring(
  detector: Vad,
  phrase: SpokenPhrase,
  { background, belowDb }: (typeof LINES)[number],
  index: number,
): CallHeard {
  const before = BEFORE_MS * SAMPLES_PER_MS;
  const sound = new Float32Array(before + phrase.pcm.length + AFTER_MS * SAMPLES_PER_MS);
  sound.set(phrase.pcm, before);
  if (background !== null) {
    const gain = (rms(phrase.pcm) / rms(background)) * 10 ** (-belowDb / 20);
    for (const [at, sample] of sound.entries()) {
      sound[at] = sample + gain * (background[(at + index * 977) % background.length] ?? 0);
    }
  }
  const limited = Int16Array.from(sound, (sample) => Math.max(-32_768, Math.min(32_767, sample)));
  const pcm = decodeG711('PCMU', encodeG711('PCMU', limited));
  const track = new VadTrack(detector);
  track.push(pcm);
  return { pcm, phrase, track, plainGate: new VadGate(), turns: [], plainTurns: [] };
}

function rms(samples: Int16Array): number {
  let power = 0;
  for (const sample of samples) power += sample * sample;
  return Math.sqrt(power / samples.length);
}

/** Scores all calls at once, as the hearing thread does. @returns the CPU of it, in % of a core a call. */
async function listen(detector: Vad, calls: readonly CallHeard[]): Promise<number> {
  const before = process.cpuUsage();
  let windows = 0;
  for (let endAtMs = WINDOW_MS; ; endAtMs += WINDOW_MS) {
    const ready = calls.flatMap((call) => {
      const window = call.track.takeWindow();
      return window === null ? [] : [{ call, window }];
    });
    if (ready.length === 0) break;
    windows += ready.length;
    const scores = await detector.score(ready.map(({ window }) => window));
    for (const [index, { call }] of ready.entries()) hearWindow(call, scores[index] ?? 0, endAtMs);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / windows / (10 * WINDOW_MS);
}

function hearWindow(call: CallHeard, score: number, endAtMs: number): void {
  const position = endAtMs * SAMPLES_PER_MS;
  const plain = call.plainGate.push(score, { startAtMs: endAtMs - WINDOW_MS, endAtMs });
  const event = call.track.score(score, { position, atMs: endAtMs });
  takeVoice(call.plainTurns, plain, call.track);
  takeVoice(call.turns, event, call.track);
}

/** A voice soon after the turn goes on with it. One that lasts to the end of the call is taken as it began. */
function takeVoice(turns: Turn[], event: VoiceEvent | null, track: VadTrack): void {
  const last = turns.at(-1);
  if (event?.kind === 'voice-started') {
    const isSame = last !== undefined && event.atMs - last.toMs < TURN_PAUSE_MS;
    if (isSame) last.toMs = Number.POSITIVE_INFINITY;
    else {
      const voice = { scoredMs: 0, voicedMs: 0, clearMs: 0 };
      turns.push({ fromMs: event.atMs, toMs: Number.POSITIVE_INFINITY, voice });
    }
  } else if (event?.kind === 'voice-stopped' && last !== undefined) {
    last.toMs = event.lastVoicedAtMs;
    last.voice = track.shareFrom((last.fromMs - EDGE_MS) * SAMPLES_PER_MS);
  } else if (event?.kind === 'background-talk' && last?.toMs === Number.POSITIVE_INFINITY) {
    turns.pop();
  }
}

async function recognize(
  recognizer: Recognizer,
  calls: readonly CallHeard[],
  which: 'turns' | 'plainTurns',
) {
  let [errors, words, falseTurns] = [0, 0, 0];
  for (const call of calls) {
    const heard: string[] = [];
    const endsMs = BEFORE_MS + call.phrase.pcm.length / SAMPLES_PER_MS;
    for (const turn of call[which]) {
      const text = await textOf(recognizer, call, turn);
      if (text !== '' && (turn.toMs < BEFORE_MS || turn.fromMs > endsMs)) falseTurns += 1;
      else heard.push(text);
    }
    const result = wordErrors(call.phrase.text, heard.join(' '));
    errors += result.errors;
    words += result.words;
  }
  const minutes = (calls.length * (BEFORE_MS + AFTER_MS)) / 60_000;
  return { percent: (100 * errors) / words, errors, words, falseTurns: falseTurns / minutes };
}

async function textOf(recognizer: Recognizer, call: CallHeard, turn: Turn): Promise<string> {
  const from = Math.max(0, turn.fromMs - EDGE_MS) * SAMPLES_PER_MS;
  const to = Math.min(call.pcm.length, (turn.toMs + EDGE_MS) * SAMPLES_PER_MS);
  const utterance = recognizer.open({ language: call.phrase.language });
  utterance.push(call.pcm.slice(from, to));
  const { signal } = new AbortController();
  const recognition = await utterance.transcribe({ isFinal: true, signal });
  return withoutHallucination(recognition, turn.voice).text;
}
