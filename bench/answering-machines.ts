/**
 * Answering machine detection: greetings of machines and answers of people, spoken by espeak-ng, through G.711, Silero as it comes
 * with Offhook, the beep detector and the rules of the screening. Each call is judged twice: by sound alone, and with words as
 * a good recogniser would give them, 0.5 s late. Real greetings differ more than these: the ratio of the two is what counts.
 */
import { decodeG711, encodeG711 } from '../src/media/dsp/g711.ts';
import { openVoiceDetector } from '../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../src/speech/vad/silero/silero-engine.ts';
import { babble } from '../test/support/speech/babble.ts';
import {
  type Heard,
  hearSounds,
  type ScreenedCall,
  screenCall,
} from '../test/support/speech/callees/screened-call.ts';
import { speakPhrase } from '../test/support/speech/espeak-phrase.ts';
import { nonSpeech } from '../test/support/speech/non-speech.ts';
import { tone } from '../test/support/speech/tone.ts';
import { type AnsweredCall, answeredCalls, type CallPart } from './lib/answered-calls.ts';
import { detectorFolder } from './lib/detector-folder.ts';
import { checkTargets, markdownTable, printJson } from './lib/harness.ts';

const SAMPLES_PER_MS = 8;
const WORDS_LATE_MS = 500;

/** Sound of each call, in milliseconds; a shorter greeting or answer is followed by silence. */
const CALL_MS = 18_000;

interface Verdict extends ScreenedCall {
  readonly isMachine: boolean;
  readonly name: string;
}

/** `npm run bench -- answering-machines [--gate]`; needs espeak-ng, and a minute. */
export async function run(args: readonly string[]): Promise<void> {
  const folder = await detectorFolder(bundledSilero());
  const detector = await openVoiceDetector(`${folder.path}/vad/silero_vad.onnx`);
  const byHearing: { readonly sound: Verdict[]; readonly words: Verdict[] } = {
    sound: [],
    words: [],
  };
  for (const call of answeredCalls()) {
    const { pcm, words } = await soundOf(call);
    const events = await hearSounds(detector, pcm);
    byHearing.sound.push(judge(call, events));
    byHearing.words.push(judge(call, [...events, ...words]));
  }
  await detector.close();
  folder.remove();

  const sound = summary(byHearing.sound);
  const words = summary(byHearing.words);
  console.log(
    markdownTable([
      { by: 'sound alone', ...sound },
      { by: 'sound and words', ...words },
    ]),
  );
  printJson({ bench: 'answering-machines', wrong: wrongOf(byHearing) });
  const people = 'people taken for machines, %';
  const missed = 'machines missed, %';
  const limits = [
    { name: `${people}, by sound`, value: sound[people], limit: 2, tolerance: 0 },
    { name: `${people}, with words`, value: words[people], limit: 2, tolerance: 0 },
    {
      name: `${missed}, by sound`,
      value: 100 - sound['machines found, %'],
      limit: 15,
      tolerance: 0,
    },
    {
      name: `${missed}, with words`,
      value: 100 - words['machines found, %'],
      limit: 5,
      tolerance: 0,
    },
  ];
  checkTargets(args, limits);
}

/** Names of the calls that were judged wrongly. */
function wrongOf(verdicts: Readonly<Record<string, readonly Verdict[]>>) {
  const isWrong = (verdict: Verdict) => (verdict.answeredBy === 'machine') !== verdict.isMachine;
  return Object.fromEntries(
    Object.entries(verdicts).map(([by, all]) => [by, all.filter(isWrong).map(({ name }) => name)]),
  );
}

function summary(verdicts: readonly Verdict[]) {
  const machines = verdicts.filter(({ isMachine }) => isMachine);
  const found = machines.filter(({ answeredBy }) => answeredBy === 'machine');
  const people = verdicts.filter(({ isMachine }) => !isMachine);
  const share = (some: readonly Verdict[]) =>
    Math.round(
      (1000 * some.filter(({ answeredBy }) => answeredBy === 'machine').length) / some.length,
    ) / 10;
  const times = (some: readonly Verdict[]) =>
    some.flatMap(({ decidedAtMs }) => decidedAtMs ?? []).sort((a, b) => a - b);
  const at = (sorted: readonly number[], rank: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * rank))] ?? Number.NaN;
  return {
    'machines found, %': share(machines),
    'people taken for machines, %': share(people),
    'machines: decided after p50, ms': at(times(found), 0.5),
    'p95, ms': at(times(found), 0.95),
    'people: p50, ms': at(times(people), 0.5),
    'people: p95, ms': at(times(people), 0.95),
  };
}

/** The sound of a call, and its words as a recogniser tells them while they are said. */
async function soundOf({ parts, noise }: AnsweredCall) {
  const sounds: Int16Array[] = [];
  const words: Heard[] = [];
  let atMs = 0;
  for (const part of parts) {
    const pcm = await soundOfPart(part);
    if (part.kind === 'say') words.push(...wordsOf(part.text, atMs, pcm.length / SAMPLES_PER_MS));
    sounds.push(pcm);
    atMs += pcm.length / SAMPLES_PER_MS;
  }
  const pcm = new Int16Array(CALL_MS * SAMPLES_PER_MS);
  pcm.set(Int16Array.from(sounds.flatMap((sound) => [...sound])).subarray(0, pcm.length));
  return { pcm: throughLine(withNoise(pcm, noise)), words };
}

function wordsOf(text: string, fromMs: number, lengthMs: number): readonly Heard[] {
  const all = text.split(' ');
  return all.map((_, index) => {
    const knownAtMs = fromMs + (lengthMs * (index + 1)) / all.length + WORDS_LATE_MS;
    const said = all.slice(0, index + 1).join(' ');
    return { event: { kind: 'words', text: said, atMs: knownAtMs }, knownAtMs };
  });
}

async function soundOfPart(part: CallPart): Promise<Int16Array> {
  switch (part.kind) {
    case 'say':
      return speakPhrase(part.text, {
        voice: part.voice,
        speed: part.speed,
        pitch: 45,
        levelDbfs: -22,
      });
    case 'beep':
      return tone(part.hertz, part.durationMs, 6000);
    case 'wait':
      return new Int16Array(part.durationMs * SAMPLES_PER_MS);
    case 'music':
      return nonSpeech('music on hold', part.durationMs / 1000).map((sample) => sample / 4);
    default:
      return part satisfies never;
  }
}

function withNoise(pcm: Int16Array, noise: AnsweredCall['noise']): Int16Array {
  if (noise === null) return pcm;
  const background = noise === 'babble' ? babble(8, 18, 0) : nonSpeech(noise, 18);
  // 15 dB below speech at -22 dBFS.
  const gain = (32_768 * 10 ** (-37 / 20)) / rms(background);
  return pcm.map((sample, at) => sample + gain * (background[at % background.length] ?? 0));
}

function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

function throughLine(pcm: Int16Array): Int16Array {
  return decodeG711('PCMU', encodeG711('PCMU', pcm));
}

function judge({ isMachine, language, name }: AnsweredCall, heard: readonly Heard[]): Verdict {
  return { isMachine, name, ...screenCall(language, heard, CALL_MS) };
}
