/** Delivers what falls due in the outbox: many at once, a few to each endpoint, so that a slow one delays nobody else. */
import type { AttemptResult, DueDelivery, Outbox } from '../domain/outbox.ts';
import { ATTEMPT_WAITS_SECONDS } from '../domain/webhook-delivery.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Answer, AnswerKind, Sender } from './answer.ts';
import { nextAttemptAt } from './attempt-schedule.ts';
import { FanOutPace } from './fan-out-pace.ts';
import { LastMoments } from './last-moments.ts';
import { READ_AHEAD_MAX, ReadAhead } from './read-ahead.ts';
import { ResultBook } from './result-book.ts';
import { DELIVERER_LIMITS, Slots } from './slots.ts';

/** While attempts are on their way their due time says nothing about what else falls due. */
const LOOK_WHILE_SENDING_MS = 250;

/** Other processes, such as the admin commands, write to the outbox too and cannot ring. */
const LOOK_AGAIN_MS = 1000;

/** Counts and measures attempts. */
export interface AttemptMeter {
  attempted(kind: AnswerKind, tookMs: number): void;
}

export interface DelivererOptions {
  readonly outbox: Outbox;
  readonly sender: Sender;
  readonly meter: AttemptMeter;
  readonly clock: Clock;
  readonly log: Logger;
  /** `ATTEMPT_WAITS_SECONDS` unless given; there are as many attempts as waits. */
  readonly waitsSeconds?: readonly number[];
  /** From 0 to 1, by chance. */
  readonly jitter: () => number;
}

export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #waitsSeconds: readonly number[];
  readonly #slots = new Slots(DELIVERER_LIMITS);
  readonly #ahead = new ReadAhead();
  readonly #fanOut: FanOutPace;
  readonly #book: ResultBook;
  #unlisten: () => void = () => undefined;
  #cancelLook: () => void = () => undefined;
  #isBehind = false;
  #mayHaveMore = false;
  /** Also while it looks: what is written then is no reason to look again. */
  #isLookDue = false;
  #isRunning = false;
  #isTroubled = false;
  #last: LastMoments | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#waitsSeconds = options.waitsSeconds ?? ATTEMPT_WAITS_SECONDS;
    this.#fanOut = new FanOutPace(options);
    this.#book = new ResultBook({
      clock: options.clock,
      write: (results) => this.#write(results),
      onTrouble: (error) => {
        options.log.error({ err: error }, 'webhooks wait: their results cannot be written');
      },
    });
  }

  start(): void {
    this.#isRunning = true;
    this.#unlisten = this.#options.outbox.bell.listen(() => this.#lookForEvents());
    this.#lookSoon();
  }

  /**
   * Sends what is due, for a second, and waits until the next for what is on its way. Attempts without an answer by then
   * are taken back and made again, under the same number, by the next process. Safe to call twice.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopOnce();
    return this.#stopped;
  }

  async #stopOnce(): Promise<void> {
    this.#unlisten();
    this.#last = new LastMoments(this.#options.clock);
    this.#lookForEvents();
    await this.#last.sent;
    this.#isRunning = false;
    this.#cancelLook();
    if (this.#slots.sending > 0) await this.#last.answered;
    this.#last.stop();
    this.#slots.takeAllBack();
    this.#book.flush();
    this.#book.stop();
  }

  #lookForEvents(): void {
    this.#fanOut.eventsCame();
    this.#lookSoon();
  }

  /** Once for many reasons, and never inside the work that gave the reason. */
  #lookSoon(): void {
    if (this.#isLookDue || !this.#isRunning) return;
    this.#isLookDue = true;
    setImmediate(() => {
      if (this.#isRunning) this.#look();
    });
  }

  #lookIn(delayMs: number): void {
    this.#cancelLook = this.#options.clock.after(delayMs, () => this.#lookForEvents());
  }

  #look(): void {
    this.#cancelLook();
    try {
      const now = this.#options.clock.now();
      this.#fanOut.run(this.#isBehind);
      this.#takeDue(now);
      this.#isLookDue = false;
      if (this.#fanOut.mayHaveEvents && !this.#isBehind) this.#lookSoon();
      else this.#lookIn(this.#delayMs(now));
      this.#isTroubled = false;
      if (this.#slots.sending === 0 && !this.#fanOut.mayHaveEvents) this.#last?.nothingToSend();
    } catch (error) {
      this.#isLookDue = false;
      this.#noteTrouble(error);
      this.#lookIn(LOOK_AGAIN_MS);
      this.#last?.nothingToSend();
    }
  }

  #delayMs(now: Date): number {
    if (this.#book.isTroubled) return LOOK_AGAIN_MS;
    if (this.#slots.sending > 0) return LOOK_WHILE_SENDING_MS;
    const dueAt = this.#options.outbox.nextDueAt();
    if (dueAt === null) return LOOK_AGAIN_MS;
    return Math.min(Math.max(dueAt.getTime() - now.getTime(), 1), LOOK_AGAIN_MS);
  }

  /** What is written first is not due any more. */
  #takeDue(now: Date): void {
    const slots = this.#slots;
    const nowMs = this.#options.clock.nowMs();
    this.#ahead.clear();
    if (!this.#book.isTroubled) this.#book.flush();
    const free = slots.free(nowMs);
    this.#isBehind = free <= 0;
    if (this.#isBehind || this.#book.isTroubled) return;
    const due = this.#options.outbox.due({
      now,
      limit: free + READ_AHEAD_MAX,
      perEndpoint: DELIVERER_LIMITS.perEndpointMax + this.#ahead.perEndpoint,
      exceptEndpoints: slots.fullEndpoints(nowMs),
      except: slots.ids,
    });
    this.#ahead.fill(due, nowMs);
    let left = free;
    while (left > 0 && this.#sendNext()) left -= 1;
    this.#isBehind = left === 0;
    this.#mayHaveMore = !this.#ahead.isEmpty;
  }

  /** @returns whether there was one to send. */
  #sendNext(): boolean {
    if (this.#book.isTroubled) return false;
    const nowMs = this.#options.clock.nowMs();
    const delivery = this.#ahead.next(nowMs, (endpointId) => this.#slots.hasRoom(endpointId));
    if (delivery !== undefined) this.#attempt(delivery);
    return delivery !== undefined;
  }

  #attempt(delivery: DueDelivery): void {
    const { sender, clock } = this.#options;
    const at = clock.now();
    const startedMs = clock.nowMs();
    const takeBack = sender.send(delivery, (answer) => {
      const durationMs = Math.max(0, clock.nowMs() - startedMs);
      this.#end(delivery, { answer, at, durationMs });
    });
    this.#slots.take(delivery, { nowMs: startedMs, takeBack });
  }

  #end(
    delivery: DueDelivery,
    facts: { readonly answer: Answer; readonly at: Date; readonly durationMs: number },
  ): void {
    const { answer, at, durationMs } = facts;
    const { kind, statusCode, error, responseText } = answer;
    const { attempt } = delivery;
    this.#options.meter.attempted(kind, durationMs);
    const isFree = this.#slots.answered(delivery.id, this.#options.clock.nowMs());
    if (isFree && this.#isRunning) this.#sendInstead();
    this.#book.add(
      {
        deliveryId: delivery.id,
        attempt: { attempt, at, durationMs, statusCode, error, responseText },
        isSuccess: kind === 'ok',
        nextAttemptAt: kind === 'ok' ? null : this.#nextAttemptAt(attempt),
      },
      this.#slots.sending === 0,
    );
    if (this.#slots.sending === 0 && !this.#isRunning) this.#last?.nothingOnItsWay();
  }

  /** The place of an answered attempt goes to what was read ahead, without a look at the outbox. */
  #sendInstead(): void {
    if (!this.#sendNext() && this.#mayHaveMore) this.#lookSoon();
  }

  #nextAttemptAt(attempt: number): Date | null {
    const { clock, jitter } = this.#options;
    const waitsSeconds = this.#waitsSeconds;
    return nextAttemptAt({ attempt, endedAt: clock.now(), waitsSeconds, jitter: jitter() });
  }

  /** While results cannot be written nothing new goes out. */
  #write(results: readonly AttemptResult[]): void {
    const { outbox, clock, log } = this.#options;
    const disabled = outbox.record(results, clock.now());
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
    this.#lookSoon();
  }

  /** Once, not at every try. */
  #noteTrouble(error: unknown): void {
    if (!this.#isTroubled) {
      this.#options.log.error({ err: error }, 'webhooks wait: the outbox cannot be used');
    }
    this.#isTroubled = true;
  }
}
