/** Requests of peers that wait for the application's answer, INVITEs outside of dialogs excepted. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { ServerRequest } from '../server-request.ts';
import { TurnoverMap } from '../turnover-map.ts';
import type { ApplicationLink } from './application-link.ts';
import type { ApplicationMessage } from './application-message.ts';
import { responsePartsOf } from './application-message.ts';

/**
 * How long the application may take. Peers give a request up after 32 s (RFC 3261, timer F), so an
 * answer must be on its way before.
 */
const ANSWER_MS_MAX = 30_000;

/** More than that at once is no load but an attack, or an application that answers nothing. */
const PENDING_MAX = 10_000;

interface Pending {
  readonly transactionId: string;
  readonly request: ServerRequest;
  readonly dialogId: string;
  readonly cancelTimer: () => void;
}

export class PendingRequests {
  readonly #link: ApplicationLink;
  readonly #clock: Clock;
  readonly #pending = new TurnoverMap<Pending>();

  constructor(options: { link: ApplicationLink; clock: Clock }) {
    this.#link = options.link;
    this.#clock = options.clock;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Hands a request to the application; refuses it where too many wait. */
  deliver(request: ServerRequest, dialogId: string): void {
    if (this.#pending.size >= PENDING_MAX) {
      request.respond(503, { headers: { 'retry-after': '10' } });
      return;
    }
    const transactionId = randomUUID();
    const cancelTimer = this.#clock.after(ANSWER_MS_MAX, () => {
      this.#pending.delete(transactionId);
      request.respond(500);
    });
    this.#pending.set(transactionId, { transactionId, request, dialogId, cancelTimer });
    const { request: message, flow } = request;
    this.#link.deliver({ message, flow, transactionId, dialogId });
  }

  /** Sends the application's answer; false where nothing waits for it. */
  answer(commandId: string, transactionId: string, answer: ApplicationMessage): boolean {
    const pending = this.#pending.get(transactionId);
    if (pending === undefined) return false;
    const message = pending.request.respond(answer.status, responsePartsOf(answer));
    if (answer.status >= 200) this.#forget(pending);
    const { dialogId, request } = pending;
    this.#link.confirm(commandId, { message, flow: request.flow, transactionId, dialogId });
    return true;
  }

  /** Refuses all that wait. */
  refuseAll(): void {
    for (const pending of this.#pending.values()) {
      this.#forget(pending);
      pending.request.respond(500);
    }
  }

  #forget({ transactionId, cancelTimer }: Pending): void {
    cancelTimer();
    this.#pending.delete(transactionId);
  }
}
