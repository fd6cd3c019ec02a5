/** Deliveries that are made and not written yet: most are answered soon, and written once, with what came of them. */
import type { Database } from './database.ts';
import { FirstAnswers } from './first-answers.ts';
import { dueAtOnce, insertDelivery, type Outcome } from './new-delivery.ts';
import { build } from './schema.ts';
import type { Take } from './statement.ts';
import type { FirstAnswerRow } from './webhook-rows.ts';

/** The outbox's reader that makes deliveries, in the table of cursors. */
const CURSOR = 'webhooks';

/** Whoever has no answer by then is written as pending. Receivers on the other side of the Earth answer in less. */
const HELD_MS_MAX = 500;

/** More are written as pending at once, the newest of them: memory is for those that are soon answered. */
const HELD_MAX = 1024;

/** A delivery without its row. */
export interface HeldDelivery {
  readonly id: string;
  /** Of its event. */
  readonly position: number;
  readonly endpointId: string;
  readonly eventId: string;
  readonly body: string;
  readonly madeAtMs: number;
}

function prepareHeld(database: Database) {
  return {
    cursor: database.prepare(() =>
      build.selectFrom('outbox_cursors').select('position').where('name', '=', CURSOR),
    ),
    moveCursor: database.prepare((take: Take<{ position: number }>) =>
      build
        .insertInto('outbox_cursors')
        .orReplace()
        .values({ name: CURSOR, position: take('position') }),
    ),
    insert: database.prepare(insertDelivery),
  };
}

/**
 * Holds deliveries from their making to their row. The cursor in the database never passes an event that has a delivery
 * here, so that after a crash they are made again: nothing is lost with this memory.
 */
export class HeldDeliveries {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareHeld>;
  readonly #answers: FirstAnswers;
  /** In the order of their events. */
  readonly #held = new Map<string, HeldDelivery>();
  /** In the transaction that is under way. */
  readonly #written = new Set<string>();
  #readUpTo: number | undefined;
  #cursor: number | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareHeld(database);
    this.#answers = new FirstAnswers(database);
  }

  /** Position of the newest event whose deliveries were made. */
  get position(): number {
    this.#cursor ??= this.#statements.cursor.get({})?.position ?? 0;
    this.#readUpTo ??= this.#cursor;
    return this.#readUpTo;
  }

  get size(): number {
    return this.#held.size;
  }

  /** When the first of them was made; undefined when there is none. */
  get oldestAtMs(): number | undefined {
    for (const { madeAtMs } of this.#held.values()) return madeAtMs;
    return undefined;
  }

  find(deliveryId: string): HeldDelivery | undefined {
    return this.#held.get(deliveryId);
  }

  /** In the order of their events. */
  get all(): readonly HeldDelivery[] {
    return [...this.#held.values()];
  }

  /** @param position of the newest event that was looked at. */
  hold(deliveries: readonly HeldDelivery[], position: number): void {
    for (const delivery of deliveries) this.#held.set(delivery.id, delivery);
    this.#readUpTo = position;
  }

  /** Lets go of what was to go to an endpoint that is deleted. */
  forget(endpointId: string): void {
    for (const delivery of this.all) {
      if (delivery.endpointId === endpointId) this.#held.delete(delivery.id);
    }
  }

  /** Runs `work`, which may write what is held, as one transaction that also moves the cursor. */
  transaction<Result>(work: () => Result): Result {
    this.#written.clear();
    const { result, cursor } = this.#database.write(() => ({
      result: work(),
      cursor: this.#moveCursor(),
    }));
    for (const id of this.#written) this.#held.delete(id);
    this.#cursor = cursor;
    return result;
  }

  /** Writes what came of a delivery, inside `transaction`. @returns its endpoint; undefined when that, or the event, is gone. */
  write(delivery: HeldDelivery, outcome: Outcome): string | undefined {
    const { endpointId, eventId, madeAtMs } = delivery;
    this.#written.add(delivery.id);
    const written = this.#statements.insert.run({ ...outcome, endpointId, eventId, madeAtMs });
    return written > 0 ? endpointId : undefined;
  }

  /** Notes deliveries that were received at the first attempt, inside `transaction`. */
  noteReceived(answers: readonly FirstAnswerRow[], nowMs: number): void {
    for (const { delivery_id } of answers) this.#written.add(delivery_id);
    if (answers.length > 0) this.#answers.note(answers, nowMs);
  }

  /**
   * Writes everything into the tables, what has no answer as pending: whoever reads them would miss it. Inside somebody
   * else's transaction, which may be taken back, only what was answered.
   */
  settle(): void {
    if (this.#held.size === 0 && !this.#answers.areThere) return;
    if (this.#database.isInTransaction) this.#answers.bringIn();
    else this.transaction(() => this.writeRest());
  }

  /** The same inside `transaction`, of what was not written in it. */
  writeRest(): void {
    this.#writePending(this.all.filter(({ id }) => !this.#written.has(id)));
    this.#answers.bringIn();
  }

  /** Writes as pending what is held for too long, or is too much; brings in what was answered; and keeps how far events were read. */
  settleLate(nowMs: number): void {
    const late = this.all.filter(
      ({ madeAtMs }, index) => index >= HELD_MAX || Math.abs(nowMs - madeAtMs) >= HELD_MS_MAX,
    );
    const isRead = this.#held.size === 0 && this.position !== this.#cursor;
    const areAnswersLate = this.#answers.areLate(nowMs, HELD_MS_MAX);
    if (late.length === 0 && !isRead && !areAnswersLate) return;
    this.transaction(() => {
      this.#writePending(late);
      if (areAnswersLate) this.#answers.bringIn();
    });
  }

  #writePending(deliveries: readonly HeldDelivery[]): void {
    for (const delivery of deliveries) {
      this.write(delivery, dueAtOnce(delivery.id, delivery.madeAtMs));
    }
  }

  #moveCursor(): number {
    const position = this.#safePosition();
    if (position !== this.#cursor) this.#statements.moveCursor.run({ position });
    return position;
  }

  /** Up to here all is written. */
  #safePosition(): number {
    for (const { id, position } of this.#held.values()) {
      if (!this.#written.has(id)) return position - 1;
    }
    return this.position;
  }
}
