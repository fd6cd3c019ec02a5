/** Answering machine detection on the sound of a call from its answer on, by the server's own rules, without a call. */
import {
  hearCallee,
  isSettled,
  judgeCallee,
  mayGreet,
  openScreen,
  type ScreenEvent,
  type ScreenState,
} from '../../../../src/conversation/screening/answer-screen.ts';
import { BeepDetector } from '../../../../src/media/dsp/beep-detector.ts';
import { meanPower } from '../../../../src/media/dsp/level-meter.ts';
import { type Vad, VadTrack } from '../../../../src/speech/vad/vad-track.ts';

const SAMPLES_PER_MS = 8;
const WINDOW_MS = 32;
const TICK_MS = 100;

/** What is heard of a call, and when the server knows of it: a voice's end is known only after the silence that shows it. */
export interface Heard {
  readonly event: ScreenEvent;
  readonly knownAtMs: number;
}

/** The decision about a call; instants are milliseconds after the answer. */
export interface ScreenedCall {
  readonly answeredBy: ScreenState['answeredBy'];
  /** Last decision: a person may turn out to be a machine. Undefined without one. */
  readonly decidedAtMs: number | undefined;
  /** When the agent may greet; undefined for a machine that was found before. */
  readonly greetedAtMs: number | undefined;
}

/** Voices, levels and beeps of 8 kHz sound. */
export async function hearSounds(detector: Vad, pcm: Int16Array): Promise<readonly Heard[]> {
  return [...(await voicesOf(detector, pcm)), ...soundsOf(pcm)];
}

/** Judges a call, as the server does every 100 ms. */
export function screenCall(
  language: string,
  heard: readonly Heard[],
  callMs: number,
): ScreenedCall {
  const events = heard.toSorted((a, b) => a.knownAtMs - b.knownAtMs);
  let state = openScreen(language, 0);
  let decidedAtMs: number | undefined;
  let greetedAtMs: number | undefined;
  let next = 0;
  for (let nowMs = TICK_MS; nowMs <= callMs && !isSettled(state, nowMs); nowMs += TICK_MS) {
    const before = state.answeredBy;
    for (let each = events[next]; each && each.knownAtMs <= nowMs; each = events[next]) {
      state = hearCallee(state, each.event);
      next += 1;
    }
    state = judgeCallee(state, nowMs);
    if (state.answeredBy !== before) decidedAtMs = nowMs;
    if (mayGreet(state)) greetedAtMs ??= nowMs;
  }
  return { answeredBy: state.answeredBy, decidedAtMs, greetedAtMs };
}

async function voicesOf(detector: Vad, pcm: Int16Array): Promise<readonly Heard[]> {
  const events: Heard[] = [];
  const track = new VadTrack(detector);
  track.push(pcm);
  for (let endAtMs = WINDOW_MS; ; endAtMs += WINDOW_MS) {
    const window = track.takeWindow();
    if (window === null) return events;
    const [score = 0] = await detector.score([window]);
    const event = track.score(score, { position: endAtMs * SAMPLES_PER_MS, atMs: endAtMs });
    if (event?.kind === 'voice-started' || event?.kind === 'voice-stopped') {
      events.push({ event, knownAtMs: endAtMs });
    } else if (event?.kind === 'background-talk') {
      const stopped = { kind: 'voice-stopped', lastVoicedAtMs: event.sinceMs } as const;
      events.push({ event: stopped, knownAtMs: endAtMs });
    }
  }
}

function soundsOf(pcm: Int16Array): readonly Heard[] {
  const events: Heard[] = [];
  const beeps = new BeepDetector();
  const tick = TICK_MS * SAMPLES_PER_MS;
  for (let at = 0; at < pcm.length; at += tick) {
    const sound = pcm.subarray(at, at + tick);
    const fromMs = at / SAMPLES_PER_MS;
    const atMs = fromMs + TICK_MS;
    const power = meanPower(sound);
    events.push({ event: { kind: 'sound', fromMs, atMs, power }, knownAtMs: atMs });
    for (const edge of beeps.hear(sound))
      events.push({ event: { kind: `beep-${edge}`, atMs }, knownAtMs: atMs });
  }
  return events;
}
