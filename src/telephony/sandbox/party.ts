/** Scripted party of a simulated call: speaks, listens and presses keys, one frame of 20 ms at a time; pure */
import type { PartyScript } from '../../domain/sandbox-scenario.ts';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../../media/audio-stream.ts';
import { samplesOf } from '../ringback.ts';

/** One frame of the party's audio; without `pcm` it is silent. */
export interface PartyFrame {
  readonly isVoice: boolean;
  readonly pcm?: Int16Array;
}

/** Actions of the party besides audio. */
export interface PartyActions {
  /** PCM of a sentence, 8 kHz; undefined without a voice. */
  pcmOf(text: string): Int16Array | undefined;
  press(digit: string): void;
  hangUp(): void;
  breakOff(): void;
}

interface SpokenSentence {
  readonly words: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Silence of the agent that ends its turn. */
const PAUSE_MS = 400;

/** A callee who answers the greeting sooner, and at length, passes for an answering machine (`answer-screen.ts`). */
const FIRST_ANSWER_MS_MIN = 2300;

/** Longest time to listen; then the party speaks over the agent. */
const PATIENCE_MS = 12_000;

/** Duration of a silent sentence, per character. */
const MS_PER_CHARACTER = 60;

/** RFC 4733 events as telephones send them. */
const KEY_MS = 160;

const TONE_HZ = 1000;
const TONE_PEAK = 8000;

/** Voice that began so shortly before an utterance was noticed belongs to it. */
const LEAD_MS = 300;

const SILENCE: PartyFrame = { isVoice: false };

/**
 * Takes the frames of a call in order, from the answer on. One instance a call. A wait that opens a script counts from
 * the agent's first sound, as far as it comes in time.
 */
export class Party {
  readonly #actions: PartyActions;
  readonly #frames: Iterator<PartyFrame, void>;
  readonly #spoken: SpokenSentence[] = [];
  #nowMs = 0;
  #isAgentTalking = false;

  constructor(options: { readonly script: PartyScript; readonly actions: PartyActions }) {
    this.#actions = options.actions;
    this.#frames = this.#act(options.script);
  }

  /**
   * Next frame.
   *
   * @param nowMs start of the frame.
   * @param isAgentTalking whether a reply of the agent is being played.
   */
  next(nowMs: number, isAgentTalking: boolean): PartyFrame {
    this.#nowMs = nowMs;
    this.#isAgentTalking = isAgentTalking;
    const { value } = this.#frames.next();
    return value ?? SILENCE;
  }

  /** Words spoken in a time span; of a sentence in progress the words so far. */
  wordsBetween(fromMs: number, untilMs: number): string {
    return this.#spoken
      .filter((said) => said.untilMs > fromMs - LEAD_MS && said.fromMs < untilMs)
      .flatMap(({ words, ...said }) => {
        const share = (untilMs - said.fromMs) / (said.untilMs - said.fromMs);
        return share >= 1 ? words : words.slice(0, Math.floor(words.length * share));
      })
      .join(' ');
  }

  *#act({ steps, firstSoundMsMax }: PartyScript): Generator<PartyFrame, void> {
    // Otherwise the speed of the machine would decide how much of the greeting is heard.
    if (steps[0]?.kind === 'wait') yield* this.#hearFirstSound(firstSoundMsMax ?? PATIENCE_MS);
    for (const step of steps) {
      switch (step.kind) {
        case 'listen':
          yield* this.#listen();
          break;
        case 'say':
          yield* this.#say(step.text, step.toneMs ?? 0);
          break;
        case 'press':
          yield* this.#press(step.digits);
          break;
        case 'wait':
          yield* silence(step.waitMs);
          break;
        case 'hang-up':
          this.#actions.hangUp();
          return;
        case 'break':
          this.#actions.breakOff();
          return;
        default:
          step satisfies never;
      }
    }
  }

  *#hearFirstSound(msMax: number): Generator<PartyFrame, void> {
    for (let waitedMs = 0; waitedMs < msMax; waitedMs += FRAME_MS) {
      if (this.#isAgentTalking) return;
      yield SILENCE;
    }
  }

  *#listen(): Generator<PartyFrame, void> {
    let hasHeard = false;
    let quietMs = 0;
    const listenMsMin = this.#spoken.length === 0 ? FIRST_ANSWER_MS_MIN : 0;
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += FRAME_MS) {
      if (hasHeard && quietMs >= PAUSE_MS && waitedMs >= listenMsMin) return;
      hasHeard ||= this.#isAgentTalking;
      quietMs = this.#isAgentTalking ? 0 : quietMs + FRAME_MS;
      yield SILENCE;
    }
  }

  *#say(text: string, toneMs: number): Generator<PartyFrame, void> {
    const silent = new Int16Array(samplesOf(text.length * MS_PER_CHARACTER));
    const pcm = this.#actions.pcmOf(text) ?? silent;
    const lengthMs = (pcm.length * 1000) / LINE_RATE_HZ;
    const fromMs = this.#nowMs;
    this.#spoken.push({ words: text.split(' '), fromMs, untilMs: fromMs + lengthMs });
    yield* voice(pcm);
    yield* voice(tone(toneMs));
  }

  *#press(digits: string): Generator<PartyFrame, void> {
    for (const digit of digits) {
      this.#actions.press(digit);
      yield* silence(KEY_MS);
    }
  }
}

function* silence(lengthMs: number): Generator<PartyFrame, void> {
  for (let silentMs = 0; silentMs < lengthMs; silentMs += FRAME_MS) yield SILENCE;
}

function* voice(pcm: Int16Array): Generator<PartyFrame, void> {
  for (let at = 0; at < pcm.length; at += FRAME_SAMPLES) {
    yield { isVoice: true, pcm: pcm.subarray(at, at + FRAME_SAMPLES) };
  }
}

function tone(lengthMs: number): Int16Array {
  const turnsPerSample = TONE_HZ / LINE_RATE_HZ;
  return Int16Array.from(
    { length: samplesOf(lengthMs) },
    (_, index) => TONE_PEAK * Math.sin(2 * Math.PI * turnsPerSample * index),
  );
}
