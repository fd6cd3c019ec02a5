/** An INVITE inside a dialog, from its arrival to its ACK. */
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import { Outcome } from '../outcome.ts';
import type { ResponseParts } from '../outgoing.ts';
import type { ServerReinvite } from '../server-request.ts';
import type { Arrival } from '../transaction/transaction-layer.ts';
import type { Flow } from '../transport/flow.ts';

export interface IncomingReinviteOptions {
  readonly arrival: Arrival;
  readonly clock: Clock;
  /** How long the application may take. */
  readonly patienceMs: number;
  readonly answer: (status: number, parts: ResponseParts) => SipMessage;
  /** Repeats the 2xx until its ACK. */
  readonly awaitAck: (ack: Outcome<SipMessage | null>) => void;
  readonly onFinal: () => void;
}

export class IncomingReinvite implements ServerReinvite {
  readonly request: SipMessage;
  readonly flow: Flow;
  readonly #ack = new Outcome<SipMessage | null>();
  readonly #options: IncomingReinviteOptions;
  readonly #cancelPatience: () => void;

  /** A property, so that it may be taken off the object like that of other requests. */
  readonly respond = (status: number, parts: ResponseParts = {}): SipMessage => {
    const { answer, arrival, awaitAck, onFinal } = this.#options;
    const isFirstFinal = arrival.transaction.lastStatus < 200 && status >= 200;
    const response = answer(status, parts);
    if (!isFirstFinal) return response;
    this.#cancelPatience();
    if (status < 300) awaitAck(this.#ack);
    else this.#ack.settle(null);
    onFinal();
    return response;
  };

  constructor(options: IncomingReinviteOptions) {
    this.#options = options;
    this.request = options.arrival.request;
    this.flow = options.arrival.flow;
    options.arrival.transaction.user = { onCancel: () => this.drop() };
    this.#cancelPatience = options.clock.after(options.patienceMs, () => this.respond(500));
  }

  get acknowledged(): Promise<SipMessage | null> {
    return this.#ack.promise;
  }

  /** Refuses it, as it was taken back or its dialog is over. */
  drop(): void {
    if (this.#options.arrival.transaction.lastStatus < 200) this.respond(487);
  }
}
