/** Our requests inside a dialog. */
import { makeResponse, type SipMessage } from '../message/message.ts';
import { SipError } from '../message/status.ts';
import { addParts } from '../own-messages.ts';
import type { Reply, SendOptions, SentAck } from '../request-sender.ts';
import type { MessageParts, OutgoingReinvite } from '../requests.ts';
import type { DialogCore, DialogEnd } from './dialog-core.ts';
import {
  addSessionExpires,
  answeredTerms,
  parseMinSe,
  SessionTimer,
  SHORTEST_INTERVAL_MS,
} from './session-timer.ts';

/** How often an INVITE that met another one is tried again. RFC 3261, 14.1. */
const GLARE_RETRIES_MAX = 3;

/** A peer that asks for more patience than that gets none. */
const RETRY_AFTER_MS_MAX = 10_000;

/** Sends our requests in one dialog. */
export class DialogOutgoing {
  readonly acks: AckStore;
  readonly sessionTimer: SessionTimer;
  readonly #core: DialogCore;
  /** Largest Min-SE received. */
  #intervalMsMin: number;

  constructor(core: DialogCore) {
    this.#core = core;
    this.#intervalMsMin = core.context.sessionTimer?.intervalMsMin ?? SHORTEST_INTERVAL_MS;
    this.acks = new AckStore(core);
    this.sessionTimer = new SessionTimer({
      clock: core.context.clock,
      refresh: () => void this.#refresh().catch((error) => this.#logFailure(error)),
      expire: () => void this.hangUp({ cause: 'session-expired', message: null }, {}),
    });
  }

  /** Takes the Min-SE of a request or of its refusal: our refreshes ask for no less. RFC 4028, 7.4. */
  noteMinimum(message: SipMessage): void {
    this.#intervalMsMin = Math.max(this.#intervalMsMin, parseMinSe(message) ?? 0);
  }

  async request(method: string, parts: OutgoingReinvite): Promise<SipMessage> {
    this.#demandLife(method);
    const isOffer = method === 'UPDATE' && (parts.body?.length ?? 0) > 0;
    if (isOffer) this.#claimOffer(method);
    try {
      const request = this.#core.newRequest(method);
      addParts(request, parts);
      if (method === 'UPDATE') this.#addSessionExpires(request);
      const reply = await this.#send(request, parts);
      if (method === 'UPDATE' && isSuccess(reply)) this.#sessionChanged(reply, request.body);
      return reply.response;
    } finally {
      if (isOffer) this.#core.pendingOffer = 'none';
    }
  }

  async reinvite(parts: OutgoingReinvite): Promise<SipMessage> {
    for (let retries = 0; ; retries++) {
      const response = await this.#reinviteOnce(parts);
      // An application that sends ACK itself gets the refusal at once, as from a drachtio server, and decides on the
      // retry.
      const waitMs = parts.acknowledge === 'manual' ? null : this.#retryWaitMs(response);
      if (waitMs === null || retries >= GLARE_RETRIES_MAX) return response;
      await this.#core.sleep(waitMs);
      if (this.#core.phase !== 'confirmed') return response;
    }
  }

  /** Sends the ACK of the newest 2xx; a peer that nothing leads to any more is given up. */
  async acknowledge(): Promise<void> {
    try {
      await this.acks.send({});
    } catch (error) {
      if (!(error instanceof SipError)) throw error;
      this.#core.end({ cause: 'peer-gone', message: null });
    }
  }

  /** Sends BYE and ends the dialog; null when it has already ended. */
  async hangUp(end: DialogEnd, parts: OutgoingReinvite): Promise<SipMessage | null> {
    const core = this.#core;
    // RFC 3261, 15: the callee sends BYE only after the ACK, or after its time-out.
    await core.ackWait?.acknowledged;
    if (core.phase === 'ended') return null;
    const request = core.newRequest('BYE');
    addParts(request, parts);
    const options = this.#sendOptions(parts);
    this.sessionTimer.stop();
    core.end(end, false);
    const { response } = await core.context.sender.send(request, options);
    core.hooks.onOver();
    return response;
  }

  async #reinviteOnce(parts: OutgoingReinvite): Promise<SipMessage> {
    this.#demandLife('INVITE');
    const isTheirTurn = this.#core.pendingOffer === 'theirs';
    // An application that decides on retries gets the 491 that the peer would send to a crossing INVITE.
    if (isTheirTurn && parts.acknowledge === 'manual') {
      return makeResponse(this.#core.newRequest('INVITE'), 491);
    }
    this.#claimOffer('INVITE');
    try {
      const request = this.#core.newRequest('INVITE');
      addParts(request, parts);
      this.#addSessionExpires(request);
      const reply = await this.#send(request, parts);
      if (!isSuccess(reply)) return reply.response;
      this.#sessionChanged(reply, request.body);
      this.acks.expect(reply);
      if (parts.acknowledge !== 'manual') await this.acknowledge();
      return reply.response;
    } finally {
      this.#core.pendingOffer = 'none';
    }
  }

  async #send(request: SipMessage, parts: OutgoingReinvite): Promise<Reply> {
    const reply = await this.#core.context.sender.send(request, this.#sendOptions(parts));
    const { status } = reply.response;
    // RFC 3261, 12.2.1.2: a peer that knows nothing of the dialog, or is silent, has left it.
    if (status === 481) this.#core.end({ cause: 'peer-gone', message: reply.response });
    else if (status === 408) void this.hangUp({ cause: 'peer-gone', message: reply.response }, {});
    return reply;
  }

  #sendOptions(parts: OutgoingReinvite): SendOptions {
    return {
      digest: this.#core.digest,
      flow: this.#core.reusableFlow(),
      nextSequence: () => this.#core.nextSequence(),
      onSent: parts.onSent,
      onProvisional: parts.onProvisional,
      onLaterSuccess: (response) => this.acks.repeat(response),
    };
  }

  #demandLife(method: string): void {
    const { phase } = this.#core;
    if (phase !== 'ended' && (phase === 'confirmed' || method !== 'INVITE')) return;
    throw new SipError(481, `Cannot send ${method} in dialog "${this.#core.id}": it is ${phase}`);
  }

  #claimOffer(method: string): void {
    const { id, pendingOffer } = this.#core;
    if (pendingOffer !== 'none') {
      throw new SipError(491, `Cannot send ${method} in dialog "${id}": another is in progress`);
    }
    this.#core.pendingOffer = 'ours';
  }

  /** Applies a 2xx to INVITE or UPDATE. */
  #sessionChanged(reply: Reply, sentBody: Buffer): void {
    const core = this.#core;
    if (sentBody.length > 0) core.localSession = sentBody;
    core.refreshTarget(reply.response);
    core.noteAllow(reply.response);
    if (core.phase === 'confirmed') {
      this.sessionTimer.restart(answeredTerms(reply.response), 'uac');
    }
  }

  #addSessionExpires(request: SipMessage): void {
    const agreedMs = this.sessionTimer.intervalMs;
    if (agreedMs === null || request.get('session-expires') !== undefined) return;
    const intervalMsMin = this.#intervalMsMin;
    const intervalMs = Math.max(agreedMs, intervalMsMin);
    const refresher = this.sessionTimer.isRefresher ? 'uac' : 'uas';
    addSessionExpires(request, { intervalMs, intervalMsMin, refresher });
  }

  /** Null: not to be tried again. */
  #retryWaitMs(response: SipMessage): number | null {
    const { timers, tokens } = this.#core.context;
    if (response.status === 491) {
      // RFC 3261, 14.1, in units of T1: 2.1 to 4 s for the side that created the dialog, up to 2 s for the other, so
      // that they do not collide again.
      const chance = tokens.fraction();
      return timers.t1Ms * (this.#core.state.isInitiator ? 4.2 + 3.8 * chance : 4 * chance);
    }
    const retryAfterMs = Number.parseInt(response.get('retry-after') ?? '', 10) * 1000;
    const mayRetry = response.status === 500 && retryAfterMs <= RETRY_AFTER_MS_MAX;
    return mayRetry ? retryAfterMs : null;
  }

  #logFailure(error: unknown): void {
    this.#core.context.logger.warn({ error }, 'SIP session could not be refreshed');
  }

  /** A peer that refuses a second interval as too short is not asked again: the session expires. */
  async #refresh(triesLeft = 2): Promise<void> {
    const core = this.#core;
    if (core.phase !== 'confirmed') return;
    if (core.pendingOffer !== 'none') {
      // The exchange in progress refreshes the session as well; if it is refused, this one will.
      await core.sleep(core.context.timers.t2Ms);
      if (core.phase === 'confirmed') await this.#refresh(triesLeft);
      return;
    }
    const response = core.peerAllows('UPDATE')
      ? await this.request('UPDATE', {})
      : await this.reinvite(core.localSession === undefined ? {} : { body: core.localSession });
    const intervalMs = response.status === 422 ? parseMinSe(response) : null;
    if (intervalMs === null || triesLeft <= 1) return;
    this.noteMinimum(response);
    this.sessionTimer.restart({ intervalMs, refresher: 'uac' }, 'uac');
    await this.#refresh(triesLeft - 1);
  }
}

function isSuccess({ response }: Reply): boolean {
  return response.status >= 200 && response.status < 300;
}

/** An application that never sends the ACK it promised: the peer gives up at 64*T1 as well. */
const PATIENCE_IN_T1 = 64;

/** ACKs of 2xx to our INVITEs: made once, repeated for every repeat of the 2xx. RFC 3261, 13.2.2.4. */
class AckStore {
  readonly #core: DialogCore;
  #expected: { readonly sequence: number; readonly invite: SipMessage } | undefined;
  #sent: { readonly sequence: number; readonly ack: SentAck } | undefined;

  constructor(core: DialogCore) {
    this.#core = core;
  }

  /** Notes a 2xx to our INVITE; `onNeglect` is called when the application sends no ACK within 64*T1. */
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
   * @throws {SipError} 481 when no 2xx waits for its ACK; 503 when the peer is unreachable.
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
