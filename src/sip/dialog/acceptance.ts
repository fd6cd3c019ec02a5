/** What comes of answering a call: the 2xx, its dialog, and later its ACK. */
import type { SipMessage } from '../message/message.ts';
import type { Outcome } from '../outcome.ts';
import type { Dialog } from './dialog.ts';

export class Acceptance {
  /** The 2xx as sent. */
  readonly message: SipMessage;
  readonly dialog: Dialog;
  readonly #ack: Outcome<SipMessage | null>;

  constructor(message: SipMessage, dialog: Dialog, ack: Outcome<SipMessage | null>) {
    this.message = message;
    this.dialog = dialog;
    this.#ack = ack;
  }

  /** The ACK; null when the dialog ended before one came: BYE first, or silence for 64*T1. */
  get acknowledged(): Promise<SipMessage | null> {
    return this.#ack.promise;
  }
}
