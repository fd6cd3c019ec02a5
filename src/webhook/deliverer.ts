/** Delivers webhooks: makes deliveries of events, sends due ones with bounded concurrency, and records the answers. */
import { setImmediate } from 'node:timers/promises';
import {
  type AttemptResult,
  type DueDelivery,
  longestWaitMs,
  nextAttemptAt,
  type Outbox,
} from '../domain/webhook/webhook-delivery.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { Repeater } from '../lib/repeater.ts';
import type { Answer, AnswerKind, Sender } from './answer.ts';

/** Attempts in flight to one endpoint that answers 2xx, however slowly. A failing endpoint gets one at a time. */
const PER_ENDPOINT_MAX = 16;

/** Attempts in flight in all. A crash makes the next process repeat this many at most. */
const IN_FLIGHT_MAX = 512;

/** Events, and attempts, of one look: a few milliseconds, because calls share the thread. */
const EVENTS_A_LOOK = 25;
const ATTEMPTS_A_LOOK = 64;

/** Other processes, such as the admin commands, write to the outbox too and cannot notify this process. */
const LOOK_AGAIN_MS = 1000;

/** A calendar that is slewed moves by less between two looks. */
const SET_BACK_MS_MIN = 500;

/** Time limit of a stop: the events of the last calls were written just before, and are sent. */
const DRAIN_MS_MAX = 2000;

/** Counts and measures attempts. */
interface AttemptMeter {
  attempted(kind: AnswerKind, tookMs: number): void;
}

/** Parts and settings of a deliverer. */
interface DelivererOptions {
  readonly outbox: Outbox;
  readonly sender: Sender;
  readonly meter: AttemptMeter;
  readonly clock: Clock;
  readonly log: Logger;
  /** Wait before each attempt, in seconds; there are as many attempts as waits. */
  readonly waitsSeconds: readonly number[];
  /** From 0 to 1, by chance. */
  readonly jitter: () => number;
}

/** One loop: each pass records answers, makes deliveries of new events, and begins attempts that are due. */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #looks: Repeater;
  /** Ids of the deliveries in flight, by endpoint. */
  readonly #inFlight = new Map<string, Set<string>>();
  /** Endpoints whose newest attempt was not answered 2xx in time. */
  readonly #failing = new Set<string>();
  /** Answered and not recorded yet. */
  readonly #results: AttemptResult[] = [];
  /** Cancels the requests in flight. */
  readonly #ending = new AbortController();
  #unlisten: () => void = () => undefined;
  #isRunning = false;
  #isTroubled = false;
  #drained: PromiseWithResolvers<void> | undefined;
  #stopped: Promise<void> | undefined;
  /** A pass is scheduled and has not begun. */
  #isLookComing = false;
  /** How far the calendar was ahead of the clock that never goes back, at the newest look. */
  #calendarAheadMs = Number.POSITIVE_INFINITY;

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#looks = new Repeater({ clock: options.clock, run: () => this.#look() });
  }

  start(): void {
    this.#isRunning = true;
    this.#unlisten = this.#options.outbox.notifier.listen(() => this.#wake());
    this.#wake();
  }

  /**
   * Sends due deliveries and waits for the answers, for two seconds at most. The next process repeats attempts that had no
   * answer by then, under the same number. Safe to call twice.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopOnce();
    return this.#stopped;
  }

  async #stopOnce(): Promise<void> {
    const drained = Promise.withResolvers<void>();
    this.#drained = drained;
    this.#unlisten();
    const cancelLimit = this.#options.clock.after(DRAIN_MS_MAX, drained.resolve);
    if (this.#isRunning) this.#looks.ask();
    else drained.resolve();
    await drained.promise;
    cancelLimit();
    this.#isRunning = false;
    this.#ending.abort();
    await this.#looks.stop();
    await this.#guarded(() => this.#record());
  }

  /** One look for many reasons. While the store fails, only the timer looks. */
  #wake(): void {
    if (this.#isTroubled || this.#isLookComing) return;
    this.#isLookComing = true;
    this.#looks.ask();
  }

  /** @returns milliseconds until the next one. */
  async #look(): Promise<number> {
    // Never inside the work that gave the reason.
    await setImmediate();
    this.#isLookComing = false;
    let delayMs = LOOK_AGAIN_MS;
    await this.#guarded(async () => {
      await this.#record();
      delayMs = await this.#deliver();
    });
    if (delayMs === 0) this.#looks.ask();
    const isIdle = this.#inFlight.size === 0 && delayMs > 0;
    if (isIdle || this.#isTroubled) this.#drained?.resolve();
    return delayMs;
  }

  /** Answers stay in memory until the store works again; no new request is sent meanwhile. Logged once. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled) {
        this.#options.log.error({ err: error }, 'webhooks wait: the outbox cannot be used');
      }
      this.#isTroubled = true;
    }
  }

  /** @returns milliseconds until the next look; 0 when there is more to do now. */
  async #deliver(): Promise<number> {
    const { outbox, clock } = this.#options;
    const now = clock.now();
    await this.#noteCalendar(now);
    const events = await outbox.fanOut({ limit: EVENTS_A_LOOK, now });
    let left = ATTEMPTS_A_LOOK;
    let delayMs = LOOK_AGAIN_MS;
    for (const { endpointId, dueAt } of await outbox.waiting()) {
      const dueInMs = dueAt.getTime() - now.getTime();
      if (dueInMs > 0) {
        delayMs = Math.min(delayMs, dueInMs);
        break;
      }
      left -= await this.#sendTo(endpointId, { now, limit: left });
      if (left === 0) return 0;
    }
    return events === EVENTS_A_LOOK ? 0 : delayMs;
  }

  /** Retries that a clock has timed which was set back since would wait for as long again. */
  async #noteCalendar(now: Date): Promise<void> {
    const { outbox, clock, waitsSeconds } = this.#options;
    const aheadMs = now.getTime() - clock.nowMs();
    if (aheadMs < this.#calendarAheadMs - SET_BACK_MS_MIN) {
      await outbox.hurry({ now, latest: new Date(now.getTime() + longestWaitMs(waitsSeconds)) });
    }
    this.#calendarAheadMs = aheadMs;
  }

  /** @returns how many attempts began. */
  async #sendTo(
    endpointId: string,
    { now, limit }: { readonly now: Date; readonly limit: number },
  ) {
    // Answered ones are due in the database until they are recorded.
    const answered = this.#results.map(({ deliveryId }) => deliveryId);
    const except = [...(this.#inFlight.get(endpointId) ?? []), ...answered];
    const ofEndpoint = this.#failing.has(endpointId) ? 1 : PER_ENDPOINT_MAX;
    const inAll = [...this.#inFlight.values()].reduce((sum, { size }) => sum + size, 0);
    const room = Math.min(
      limit,
      ofEndpoint - (except.length - answered.length),
      IN_FLIGHT_MAX - inAll,
    );
    if (room <= 0) return 0;
    const deliveries = await this.#options.outbox.due(endpointId, { now, limit: room, except });
    // Drained meanwhile: the next process sends them.
    if (!this.#isRunning) return 0;
    for (const delivery of deliveries) void this.#attempt(delivery);
    return deliveries.length;
  }

  async #attempt(delivery: DueDelivery): Promise<void> {
    const { sender, clock, meter } = this.#options;
    const { id, endpointId } = delivery;
    const inFlight = this.#inFlight.get(endpointId) ?? new Set();
    this.#inFlight.set(endpointId, inFlight.add(id));
    const at = clock.now();
    const startedMs = clock.nowMs();
    const answer = await sender.send(delivery, this.#ending.signal);
    if (this.#ending.signal.aborted) return;
    const durationMs = Math.max(0, clock.nowMs() - startedMs);
    inFlight.delete(id);
    if (inFlight.size === 0) this.#inFlight.delete(endpointId);
    if (answer.kind === 'ok') this.#failing.delete(endpointId);
    else this.#failing.add(endpointId);
    meter.attempted(answer.kind, durationMs);
    this.#results.push(this.#resultOf(delivery, { answer, at, durationMs }));
    this.#wake();
  }

  #resultOf(
    { id: deliveryId, attempt }: DueDelivery,
    facts: { readonly answer: Answer; readonly at: Date; readonly durationMs: number },
  ): AttemptResult {
    const { answer, at, durationMs } = facts;
    const { kind, ...result } = answer;
    const { clock, jitter, waitsSeconds } = this.#options;
    const isSuccess = kind === 'ok';
    const retry = { attempt, endedAt: clock.now(), waitsSeconds, jitter: jitter() };
    return {
      deliveryId,
      attempt: { attempt, at, durationMs, ...result },
      isSuccess,
      nextAttemptAt: isSuccess ? null : nextAttemptAt(retry),
    };
  }

  async #record(): Promise<void> {
    if (this.#results.length === 0) return;
    const { outbox, clock, log } = this.#options;
    const results = [...this.#results];
    const disabled = await outbox.record(results, clock.now());
    this.#results.splice(0, results.length);
    for (const endpointId of disabled) {
      log.warn({ endpointId }, 'webhook endpoint disabled: it has failed for too long');
    }
    for (const { deliveryId, attempt, isSuccess, nextAttemptAt: next } of results) {
      if (isSuccess || next !== null) continue;
      log.info(
        { deliveryId, attempt: attempt.attempt, why: attempt.error },
        'webhook not received',
      );
    }
  }
}
