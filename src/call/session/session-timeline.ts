/** The timeline of one call: what happened on it and when, without a word that was said or a key that was pressed. */
import type { ConversationEvent, TurnTimes } from '../../conversation/conversation-port.ts';
import type { Call, CallStore, TimelineEntry } from '../../domain/call/call.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CallJournal } from './call-journal.ts';

/** Nobody reads the hundred-and-first key, and a telephone that goes wrong presses them for hours. */
const KEYS_MAX = 100;

type Details = TimelineEntry['details'];

/**
 * How the timeline of a call begins: its ringing, unless it is an outgoing call, which rings somewhere else, if at all; and its
 * answer, if there was one.
 */
export function beginningOf({ direction, startedAt, answeredAt }: Call): readonly TimelineEntry[] {
  const ringAt = direction === 'outbound' ? null : startedAt;
  return [
    ...(ringAt === null ? [] : [{ at: ringAt, kind: 'ringing', details: {} }]),
    ...(answeredAt === null ? [] : [{ at: answeredAt, kind: 'answered', details: {} }]),
  ];
}

/** How the timeline of a call ends. @throws {Error} when the call is not over. */
export function endedEntry({ id, endedAt, endReason, ...call }: Call): TimelineEntry {
  if (endedAt === null) throw new Error(`Cannot tell the end of call "${id}": it is not over`);
  const { answeredAt, failureReason, sipStatus } = call;
  const details = { endReason, answeredAt, failureReason, sipStatus };
  return { at: endedAt, kind: 'ended', details };
}

/** Writes by the call's journal, in order with all else of its record. */
export class SessionTimeline {
  readonly #callId: string;
  readonly #calls: Pick<CallStore, 'addTimelineEntry'>;
  readonly #clock: Clock;
  readonly #journal: CallJournal;
  #keys = 0;
  #endsAt: Date | undefined;
  #isOver = false;

  constructor(options: {
    readonly callId: string;
    readonly calls: Pick<CallStore, 'addTimelineEntry'>;
    readonly clock: Clock;
    readonly journal: CallJournal;
  }) {
    this.#callId = options.callId;
    this.#calls = options.calls;
    this.#clock = options.clock;
    this.#journal = options.journal;
  }

  /** Adds what happens now. After the end nothing happens any more. */
  add(kind: string, details: Details = {}): void {
    const now = this.#clock.now();
    const at = this.#endsAt !== undefined && this.#endsAt < now ? this.#endsAt : now;
    this.#write({ at, kind, details });
  }

  answered(call: Call): void {
    for (const entry of beginningOf(call)) this.#write(entry);
  }

  /** Says that a key was pressed, and not which: it may be one of a card number. */
  key(): void {
    this.#keys += 1;
    if (this.#keys <= KEYS_MAX) this.add('digit');
  }

  /** What was asked of it is not told: arguments are callers' words. */
  tool(run: Extract<ConversationEvent, { readonly kind: 'tool' }>): void {
    this.add('tool', { name: run.name, outcome: run.outcome, tookMs: tenths(run.tookMs) });
  }

  turn(times: TurnTimes): void {
    this.add(
      'turn',
      Object.fromEntries(
        Object.entries(times).map(([name, of]) => [name, typeof of === 'number' ? tenths(of) : of]),
      ),
    );
  }

  /** Sets the end. Of what led to it, some is told a little later; it happened by then. @returns the end. */
  ends(at: Date): Date {
    this.#endsAt = at;
    return at;
  }

  ended(call: Call): void {
    this.#write(endedEntry(call));
    this.#isOver = true;
  }

  #write(entry: TimelineEntry): void {
    if (this.#isOver) return;
    this.#journal.write(() => this.#calls.addTimelineEntry(this.#callId, entry));
  }
}

/** Clocks tell nanoseconds, and conversations do not need them. */
function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
