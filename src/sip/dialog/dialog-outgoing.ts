/** Our requests inside a dialog. */
import { sendCounted } from '../engine-stats.ts';
import { makeResponse, type SipMessage } from '../message/message.ts';
import { SipError } from '../message/status.ts';
import { addParts, type MessageParts, type OutgoingReinvite } from '../own-messages.ts';
import type { Reply, SendOptions, SentAck } from '../request-sender.ts';
import { DialogCore, type DialogEnd, type DialogOptions } from './dialog-core.ts';
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

/** An application that never sends the ACK it promised: the peer gives up at 64*T1 as well. */
const PATIENCE_IN_T1 = 64;

/** Requests of ours, and the ACKs of 2xx to our INVITEs: made once, repeated for every repeat of the 2xx. RFC 3261, 13.2.2.4. */
export class DialogOutgoing extends DialogCore {
  readonly sessionTimer: SessionTimer;
  /** Largest Min-SE received. */
  #intervalMsMin: number;
  /** 2xx that waits for its ACK. */
  #acceptance: { readonly sequence: number; readonly invite: SipMessage } | undefined;
  #sentAck: { readonly sequence: number; readonly ack: SentAck } | undefined;

  constructor(options: DialogOptions) {
    super(options);
    const { clock, sessionTimer } = options.context;
    this.#intervalMsMin = sessionTimer?.intervalMsMin ?? SHORTEST_INTERVAL_MS;
    this.sessionTimer = new SessionTimer({
      clock,
      refresh: () => void this.#refresh().catch((error) => this.#logFailure(error)),
      expire: () => void this.hangUp({ cause: 'session-expired', message: null }),
    });
    this.stopAtEnd(() => this.sessionTimer.stop());
  }

  /** Takes the Min-SE of a request or of its refusal: our refreshes ask for no less. RFC 4028, 7.4. */
  noteMinimum(message: SipMessage): void {
    this.#intervalMsMin = Math.max(this.#intervalMsMin, parseMinSe(message) ?? 0);
  }

  /**
   * Sends a request and resolves with its final response; a time-out gives a local 408, an unreachable peer a local
   * 503. Challenges are answered with the credentials of the call. `INVITE` uses {@link reinvite} and `BYE` uses
   * {@link bye}.
   *
   * @throws {SipError} 481 when the dialog has ended; 491 when another INVITE is in progress.
   */
  async request(method: string, parts: OutgoingReinvite = {}): Promise<SipMessage> {
    if (method === 'INVITE') return await this.reinvite(parts);
    if (method !== 'BYE') return await this.#request(method, parts);
    const response = await this.bye(parts);
    if (response !== null) return response;
    throw new SipError(481, `Cannot send BYE in dialog "${this.id}": it has ended`);
  }

  /**
   * Sends an INVITE inside the dialog. Tries again after 491, and after 500 with Retry-After.
   *
   * @throws {SipError} 481 when the dialog is not confirmed; 491 when another INVITE is in progress.
   */
  async reinvite(parts: OutgoingReinvite = {}): Promise<SipMessage> {
    for (let retries = 0; ; retries++) {
      const response = await this.#reinviteOnce(parts);
      // An application that sends ACK itself gets the refusal at once, as from a drachtio server, and decides on the
      // retry.
      const waitMs = parts.acknowledge === 'manual' ? null : this.#retryWaitMs(response);
      if (waitMs === null || retries >= GLARE_RETRIES_MAX) return response;
      await this.sleep(waitMs);
      if (this.state !== 'confirmed') return response;
    }
  }

  /**
   * Ends the dialog and resolves with the response to BYE; null when the dialog has already ended.
   *
   * The callee waits for the ACK first. RFC 3261, 15.
   *
   * @throws {SipError} 481 for an incoming call that is not accepted: reject it instead.
   */
  async bye(parts: OutgoingReinvite = {}): Promise<SipMessage | null> {
    if (this.state === 'early' && !this.data.isInitiator) {
      throw new SipError(481, `Cannot send BYE in dialog "${this.id}": call is not accepted`);
    }
    return await this.hangUp({ cause: 'local-bye', message: null }, parts);
  }

  /**
   * Acknowledges the newest 2xx to our INVITE; needed with `acknowledge: 'manual'` only.
   *
   * @returns the ACK as sent.
   * @throws {SipError} 481 when no 2xx waits for its ACK; 503 when the peer is unreachable.
   */
  async ack(parts: MessageParts = {}): Promise<SipMessage> {
    const acceptance = this.#acceptance;
    if (acceptance === undefined) {
      throw new SipError(481, `Cannot send ACK in dialog "${this.id}": no 2xx waits for it`);
    }
    this.#acceptance = undefined;
    const { sequence, invite } = acceptance;
    const ack = this.newRequest('ACK', sequence);
    for (const name of ['authorization', 'proxy-authorization']) {
      for (const value of invite.all(name)) ack.add(name, value);
    }
    addParts(ack, parts);
    if (ack.body.length > 0) this.localSession = ack.body;

    const sent = await this.context.sender.sendAck(ack, this.way());
    if (sent === null) {
      throw new SipError(503, `Cannot send ACK in dialog "${this.id}": no way to the peer`);
    }
    this.#sentAck = { sequence, ack: sent };
    return sent.request;
  }

  /** Notes a 2xx to our INVITE; `onNeglect` is called when the application sends no ACK within 64*T1. */
  expectAck(reply: Reply, onNeglect?: () => void): void {
    const acceptance = { sequence: reply.response.cseq.seq, invite: reply.request };
    this.#acceptance = acceptance;
    if (onNeglect === undefined) return;
    void this.sleep(PATIENCE_IN_T1 * this.context.timers.t1Ms).then(() => {
      if (this.#acceptance === acceptance) onNeglect();
    });
  }

  /** Answers a repeated 2xx with its ACK; does nothing before the application has sent the first one. */
  repeatAck(response: SipMessage): void {
    if (this.#sentAck?.sequence !== response.cseq.seq) return;
    const { stats } = this.context;
    const { flow, bytes } = this.#sentAck.ack;
    stats.counts.retransmissionsIn += 1;
    sendCounted(stats, flow, bytes, true);
  }

  /** Sends the ACK of the newest 2xx; ends the dialog when the peer is unreachable. */
  async acknowledge(): Promise<void> {
    try {
      await this.ack();
    } catch (error) {
      if (!(error instanceof SipError)) throw error;
      this.end({ cause: 'peer-gone', message: null });
    }
  }

  /** Sends BYE and ends the dialog; null when it has already ended. */
  async hangUp(end: DialogEnd, parts: OutgoingReinvite = {}): Promise<SipMessage | null> {
    // RFC 3261, 15: the callee sends BYE only after the ACK, or after its time-out.
    await this.ackWait?.acknowledged;
    if (this.state === 'ended') return null;
    const request = this.newRequest('BYE');
    addParts(request, parts);
    const options = this.#sendOptions(parts);
    this.end(end, false);
    const { response } = await this.context.sender.send(request, options);
    this.onOver();
    return response;
  }

  async #request(method: string, parts: OutgoingReinvite): Promise<SipMessage> {
    this.#demandLife(method);
    const isOffer = method === 'UPDATE' && (parts.body?.length ?? 0) > 0;
    if (isOffer) this.#claimOffer(method);
    try {
      const request = this.newRequest(method);
      addParts(request, parts);
      if (method === 'UPDATE') this.#addSessionExpires(request);
      const reply = await this.#send(request, parts);
      if (method === 'UPDATE' && isSuccess(reply)) this.#sessionChanged(reply, request.body);
      return reply.response;
    } finally {
      if (isOffer) this.pendingOffer = 'none';
    }
  }

  async #reinviteOnce(parts: OutgoingReinvite): Promise<SipMessage> {
    this.#demandLife('INVITE');
    const isTheirTurn = this.pendingOffer === 'theirs';
    // An application that decides on retries gets the 491 that the peer would send to a crossing INVITE.
    if (isTheirTurn && parts.acknowledge === 'manual') {
      return makeResponse(this.newRequest('INVITE'), 491);
    }
    this.#claimOffer('INVITE');
    try {
      const request = this.newRequest('INVITE');
      addParts(request, parts);
      this.#addSessionExpires(request);
      const reply = await this.#send(request, parts);
      if (!isSuccess(reply)) return reply.response;
      this.#sessionChanged(reply, request.body);
      this.expectAck(reply);
      if (parts.acknowledge !== 'manual') await this.acknowledge();
      return reply.response;
    } finally {
      this.pendingOffer = 'none';
    }
  }

  async #send(request: SipMessage, parts: OutgoingReinvite): Promise<Reply> {
    const reply = await this.context.sender.send(request, this.#sendOptions(parts));
    const { status } = reply.response;
    // RFC 3261, 12.2.1.2: a peer that does not know the dialog, or does not answer, has left it.
    if (status === 481) this.end({ cause: 'peer-gone', message: reply.response });
    else if (status === 408) void this.hangUp({ cause: 'peer-gone', message: reply.response });
    return reply;
  }

  #sendOptions(parts: OutgoingReinvite): SendOptions {
    return {
      ...this.way(),
      digest: this.digest,
      nextSequence: () => this.nextSequence(),
      onSent: parts.onSent,
      onProvisional: parts.onProvisional,
      onLaterSuccess: (response) => this.repeatAck(response),
    };
  }

  #demandLife(method: string): void {
    const { id, state } = this;
    if (state !== 'ended' && (state === 'confirmed' || method !== 'INVITE')) return;
    throw new SipError(481, `Cannot send ${method} in dialog "${id}": it is ${state}`);
  }

  #claimOffer(method: string): void {
    if (this.pendingOffer !== 'none') {
      throw new SipError(
        491,
        `Cannot send ${method} in dialog "${this.id}": another is in progress`,
      );
    }
    this.pendingOffer = 'ours';
  }

  /** Applies a 2xx to INVITE or UPDATE. */
  #sessionChanged(reply: Reply, sentBody: Buffer): void {
    if (sentBody.length > 0) this.localSession = sentBody;
    this.refreshTarget(reply.response);
    this.noteAllow(reply.response);
    if (this.state === 'confirmed') {
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
    const { timers, tokens } = this.context;
    if (response.status === 491) {
      // RFC 3261, 14.1, in units of T1: 2.1 to 4 s for the side that created the dialog, up to 2 s for the other, so
      // that they do not collide again.
      const chance = tokens.fraction();
      return timers.t1Ms * (this.data.isInitiator ? 4.2 + 3.8 * chance : 4 * chance);
    }
    const retryAfterMs = Number.parseInt(response.get('retry-after') ?? '', 10) * 1000;
    const mayRetry = response.status === 500 && retryAfterMs <= RETRY_AFTER_MS_MAX;
    return mayRetry ? retryAfterMs : null;
  }

  #logFailure(error: unknown): void {
    this.context.logger.warn({ error }, 'SIP session could not be refreshed');
  }

  /** A peer that refuses a second interval as too short is not asked again: the session expires. */
  async #refresh(triesLeft = 2): Promise<void> {
    if (this.state !== 'confirmed') return;
    if (this.pendingOffer !== 'none') {
      // The exchange in progress refreshes the session as well; if it is refused, this one will.
      await this.sleep(this.context.timers.t2Ms);
      if (this.state === 'confirmed') await this.#refresh(triesLeft);
      return;
    }
    const response = this.peerAllows('UPDATE')
      ? await this.request('UPDATE', {})
      : await this.reinvite(this.localSession === undefined ? {} : { body: this.localSession });
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
