/** Talk with the third party alone, before the caller is connected: the announcement, and whether it takes the call. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { AudioEvent, AudioStream } from '../../../media/audio-stream.ts';
import { type Leg, type TransferOptions, transferFailure } from '../../carrier.ts';
import { reasonOf } from '../carrier/srf.ts';

/** Wait for the third party's greeting before the announcement. */
const GREETING_MS_MAX = 2_000;

/** Limit of the announcement, since the caller waits meanwhile; a longer one is cut off. */
const ANNOUNCEMENT_MS_MAX = 15_000;

const QUESTION_MS_MAX = 10_000;

/** Time for the answer to the question. A mailbox never gives one. */
const ANSWER_MS_MAX = 10_000;

/** Keys of the answer. */
const ANSWER_BY_KEY: Readonly<Record<string, boolean>> = { 1: true, 2: false };

interface Tools {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the consultation is of no use any more. */
  readonly signal: AbortSignal;
}

/**
 * Announces the caller and asks whether the third party takes the call, as far as the options say so.
 *
 * @throws {CarrierError} 603 when it declines, 480 when it does not answer the question.
 */
export async function consult(
  leg: Pick<Leg, 'audio' | 'onDigit'>,
  { announcement, acceptance }: TransferOptions,
  tools: Tools,
): Promise<void> {
  const { clock, signal } = tools;
  if (announcement === undefined && acceptance === undefined) return;
  const answer = new Answer(leg, signal);
  const until = acceptance === undefined ? undefined : answer.given;
  await eventOrLimit(leg.audio, isKind('voice-stopped'), clock, {
    limitMs: GREETING_MS_MAX,
    until,
  });
  if (announcement !== undefined) {
    const words = { generation: 1, limitMs: ANNOUNCEMENT_MS_MAX, until };
    await say(leg.audio, announcement, words, tools);
  }
  if (acceptance === undefined) return;
  const stopHearing = answer.hear(acceptance.hear);
  try {
    const words = { generation: 2, limitMs: QUESTION_MS_MAX, until };
    if (answer.isYes === undefined) await say(leg.audio, acceptance.question, words, tools);
    await answer.within(clock, ANSWER_MS_MAX);
  } finally {
    stopHearing();
  }
  if (answer.isYes === true) return;
  throw answer.isYes === false
    ? transferFailure('the other party declined it', 603)
    : transferFailure('the other party did not accept it', 480);
}

/** The third party's answer; the first one counts. */
class Answer {
  readonly #audio: AudioStream;
  readonly #given = Promise.withResolvers<void>();
  #isYes: boolean | undefined;

  /** Takes keys from now on; an aborted signal ends every wait. */
  constructor(leg: Pick<Leg, 'audio' | 'onDigit'>, signal: AbortSignal) {
    this.#audio = leg.audio;
    leg.onDigit((digit) => this.#take(ANSWER_BY_KEY[digit]));
    leg.audio.onEvent((event) => {
      if (event.kind === 'digit') this.#take(ANSWER_BY_KEY[event.digit]);
    });
    signal.addEventListener('abort', () => this.#given.resolve());
  }

  /** Undefined while there is none. */
  get isYes(): boolean | undefined {
    return this.#isYes;
  }

  /** Resolves when it is given, or not wanted any more. */
  get given(): Promise<void> {
    return this.#given.promise;
  }

  /** Takes spoken answers as well. @returns a function that ends this. */
  hear(hear: NonNullable<TransferOptions['acceptance']>['hear']): () => void {
    return hear?.(this.#audio, (isYes) => this.#take(isYes)) ?? (() => undefined);
  }

  /** Resolves when it is given, at the latest after `limitMs`. */
  within(clock: Clock, limitMs: number): Promise<void> {
    const cancel = clock.after(limitMs, this.#given.resolve);
    return this.given.then(cancel);
  }

  #take(isYes: boolean | undefined): void {
    if (isYes === undefined) return;
    this.#isYes ??= isYes;
    this.#given.resolve();
  }
}

interface Words {
  readonly generation: number;
  readonly limitMs: number;
  /** Breaks them off. */
  readonly until: Promise<void> | undefined;
}

/** Says it to its end. A voice that fails is logged: the two can still talk to each other. */
async function say(
  audio: AudioStream,
  words: () => AsyncIterable<Int16Array>,
  options: Words,
  { clock, log }: Tools,
): Promise<void> {
  try {
    await play(audio, words(), options, clock);
  } catch (error) {
    log.warn(
      { why: reasonOf(error) },
      'the other party of a transfer does not hear what it is about',
    );
  }
}

/** @throws the synthesiser's error. */
async function play(
  audio: AudioStream,
  words: AsyncIterable<Int16Array>,
  { generation, ...limits }: Words,
  clock: Clock,
): Promise<void> {
  const isOurs = (event: AudioEvent) =>
    event.kind === 'playout-finished' && event.generation === generation;
  const isSaid = eventOrLimit(audio, isOurs, clock, limits);
  audio.begin(generation);
  const voice = words[Symbol.asyncIterator]();
  try {
    for (;;) {
      // A voice that stalls is waited for no longer than one that talks on.
      const next = await Promise.race([voice.next(), isSaid]);
      if (next === undefined || next.done === true) break;
      audio.say(generation, next.value);
    }
    audio.finish(generation);
    await isSaid;
  } finally {
    // The rest of a failed synthesis would be sent in place of the caller's sound.
    audio.drop(generation);
  }
  // The rest is discarded; a stuck synthesiser may fail later.
  voice.return?.().catch(() => undefined);
}

function isKind(kind: AudioEvent['kind']): (event: AudioEvent) => boolean {
  return (event) => event.kind === kind;
}

/** Resolves at the first such event, at the latest after `limitMs` or with `until`. */
function eventOrLimit(
  audio: AudioStream,
  isWanted: (event: AudioEvent) => boolean,
  clock: Clock,
  { limitMs, until }: { readonly limitMs: number; readonly until: Promise<void> | undefined },
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    audio.onEvent((event) => {
      if (isWanted(event)) done();
    });
    void until?.then(done);
  });
}
