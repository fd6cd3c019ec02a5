/** ACKs of 2xx to our INVITEs: made once, repeated for every repeat of the 2xx. RFC 3261, 13.2.2.4. */
import type { SipMessage } from '../message/message.ts';
import { SipError } from '../message/sip-error.ts';
import { addParts } from '../message-parts.ts';
import type { MessageParts } from '../outgoing.ts';
import type { Reply, SentAck } from '../request-sender.ts';
import type { DialogCore } from './dialog-core.ts';

/** An application that never sends the ACK it promised: the peer gives up at 64*T1 as well. */
const PATIENCE_IN_T1 = 64;

export class AckStore {
  readonly #core: DialogCore;
  #expected: { readonly sequence: number; readonly invite: SipMessage } | undefined;
  #sent: { readonly sequence: number; readonly ack: SentAck } | undefined;

  constructor(core: DialogCore) {
    this.#core = core;
  }

  /** Notes a 2xx to an INVITE of ours; `onNeglect` is called when it stays without ACK for 64*T1. */
  expect(reply: Reply, onNeglect?: () => void): void {
    const expected = { sequence: reply.response.cseq.seq, invite: reply.request };
    this.#expected = expected;
    if (onNeglect === undefined) return;
    const { timers } = this.#core.context;
    void this.#core.sleep(PATIENCE_IN_T1 * timers.t1Ms).then(() => {
      if (this.#expected === expected) onNeglect();
    });
  }

  /**
   * Sends the ACK of the newest 2xx.
   *
   * @throws {SipError} 481 when none waits for its ACK; 503 when there is no way to the peer.
   */
  async send(parts: MessageParts): Promise<SipMessage> {
    const expected = this.#expected;
    if (expected === undefined) {
      throw new SipError(481, `Cannot send ACK in dialog "${this.#core.id}": no 2xx waits for it`);
    }
    this.#expected = undefined;
    const ack = this.#core.newRequest('ACK', expected.sequence);
    for (const name of ['authorization', 'proxy-authorization']) {
      for (const value of expected.invite.all(name)) ack.add(name, value);
    }
    addParts(ack, parts);
    if (ack.body.length > 0) this.#core.localSession = ack.body;

    const sent = await this.#core.context.sender.sendAck(ack, this.#core.reusableFlow());
    if (sent === null) {
      throw new SipError(503, `Cannot send ACK in dialog "${this.#core.id}": no way to the peer`);
    }
    this.#sent = { sequence: expected.sequence, ack: sent };
    return sent.request;
  }

  /** Answers the repeat of a 2xx; nothing as long as the application has not sent the first ACK. */
  repeat(response: SipMessage): void {
    if (this.#sent?.sequence !== response.cseq.seq) return;
    const { counts } = this.#core.context.stats;
    counts.retransmissionsIn += 1;
    counts.retransmissionsOut += 1;
    this.#core.context.sender.repeatAck(this.#sent.ack);
  }
}
