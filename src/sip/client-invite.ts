/** Outgoing call: the client side of an INVITE outside dialogs, and the dialogs of its forks. */
import { EventEmitter } from 'node:events';
import type { Dialog, DialogTable } from './dialog/dialog.ts';
import { clientDialogState, withAnswer } from './dialog/dialog-core.ts';
import { addSessionExpires, answeredTerms, parseMinSe } from './dialog/session-timer.ts';
import type { DigestClient } from './digest.ts';
import { makeResponse, type SipMessage } from './message/message.ts';
import { SipError } from './message/status.ts';
import type { OutgoingInvite } from './own-messages.ts';
import type { Reply } from './request-sender.ts';
import type { Flow } from './transport/flow.ts';
import type { EngineContext } from './user-agent-options.ts';

interface InviteOutcome {
  /** The final response; made here for a time-out (408), a lost peer (503), a cancel without answer (487). */
  readonly response: SipMessage;
  /** The confirmed dialog of a 2xx, otherwise null. */
  readonly dialog: Dialog | null;
}

interface ClientInviteEvents {
  /** Each INVITE as sent, retries with credentials included. */
  sent: [SipMessage, Flow];
  /** 1xx, 100 included. Reliable ones are acknowledged by PRACK. The dialog is null without a To tag. */
  provisional: [SipMessage, Dialog | null];
  /** The 2xx that wins. 2xx of other forks are acknowledged and ended by BYE. */
  accepted: [SipMessage, Dialog];
  /** Final response above 299, or one made here. */
  rejected: [SipMessage];
}

interface ClientInviteOptions {
  readonly context: EngineContext;
  readonly dialogs: DialogTable;
  readonly request: SipMessage;
  readonly digest: DigestClient | undefined;
  readonly contactUser: string | undefined;
  readonly acknowledge: NonNullable<OutgoingInvite['acknowledge']>;
  readonly ringTimeoutMs: number;
}

/** Limits the retries with a server that keeps raising its minimum. */
const BRIEF_RETRIES_MAX = 2;

/**
 * Made by the user agent, never by applications. It sends in the next microtask, so that listeners
 * can be put on first.
 */
export class ClientInvite extends EventEmitter<ClientInviteEvents> {
  /** Never rejects. */
  readonly outcome: Promise<InviteOutcome>;
  readonly #options: ClientInviteOptions;
  readonly #forks: ClientForks;
  #resolve: (outcome: InviteOutcome) => void = () => undefined;
  #state: 'calling' | 'accepted' | 'rejected' = 'calling';
  #sent: { readonly request: SipMessage; readonly flow: Flow } | undefined;
  readonly #cancelled = new AbortController();
  #isProvisional = false;
  #cancelTimer: () => void;

  constructor(options: ClientInviteOptions) {
    super();
    this.#options = options;
    this.#forks = new ClientForks(options);
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { clock } = options.context;
    this.#cancelTimer = clock.after(options.ringTimeoutMs, () => this.cancel());
    queueMicrotask(() => {
      this.#run().catch((error) => {
        options.context.logger.error({ error }, 'SIP call could not be handled');
        this.#reject(makeResponse(options.request, 500));
      });
    });
  }

  get state(): 'calling' | 'accepted' | 'rejected' {
    return this.#state;
  }

  get isCancelled(): boolean {
    return this.#cancelled.signal.aborted;
  }

  /**
   * Sends CANCEL at once after a provisional response, otherwise at the first one. Until then the INVITE is not sent
   * again: not as a retransmission, not to another server, not with credentials. A 2xx that crosses the CANCEL gets ACK
   * and BYE and counts as 487 with `acknowledge: 'automatic'`; with `manual` it emits `accepted`, and the application
   * hangs up.
   */
  cancel(): void {
    if (this.isCancelled || this.#state !== 'calling') return;
    this.#cancelled.abort();
    if (this.#isProvisional) this.#sendCancel();
  }

  async #run(): Promise<void> {
    let { request } = this.#options;
    for (let retries = 0; ; retries++) {
      if (this.isCancelled && this.#sent === undefined) {
        this.#reject(makeResponse(request, 487));
        return;
      }
      const reply = await this.#send(request);
      const minMs = reply.response.status === 422 ? parseMinSe(reply.response) : null;
      if (minMs === null || retries >= BRIEF_RETRIES_MAX || this.isCancelled) {
        await this.#finish(reply);
        return;
      }
      request = request.clone().set('cseq', `${reply.request.cseq.seq + 1} INVITE`);
      addSessionExpires(request, { intervalMs: minMs, intervalMsMin: minMs });
    }
  }

  async #send(request: SipMessage): Promise<Reply> {
    return await this.#options.context.sender.send(request, {
      digest: this.#options.digest,
      contactUser: this.#options.contactUser,
      unwanted: this.#cancelled.signal,
      onSent: (sent, flow) => {
        this.#sent = { request: sent, flow };
        this.#isProvisional = false;
        this.emit('sent', sent, flow);
      },
      onProvisional: (response) => this.#provisional(response),
      onLaterSuccess: (response) => {
        if (this.#sent !== undefined) this.#forks.later(response, this.#sent);
      },
    });
  }

  #provisional(response: SipMessage): void {
    const isFirst = !this.#isProvisional;
    this.#isProvisional = true;
    if (this.isCancelled && isFirst) this.#sendCancel();
    if (this.#state !== 'calling' || this.#sent === undefined) return;
    const early = this.#forks.early(response, this.#sent);
    if (early !== 'repeat') this.emit('provisional', response, early);
  }

  #sendCancel(): void {
    if (this.#sent === undefined) return;
    const { request, flow } = this.#sent;
    const { clock, sender, timers } = this.#options.context;
    sender.cancel(request, flow);
    // RFC 3261, 9.1: a server that never answers its INVITE is not waited for.
    this.#cancelTimer();
    this.#cancelTimer = clock.after(64 * timers.t1Ms, () =>
      this.#reject(makeResponse(request, 487)),
    );
  }

  async #finish(reply: Reply): Promise<void> {
    const isSuccess = reply.response.status < 300;
    if (!isSuccess) {
      this.#reject(reply.response);
      return;
    }
    const isUnwanted =
      this.#state !== 'calling' || (this.isCancelled && this.#options.acknowledge === 'automatic');
    if (isUnwanted) {
      this.#reject(makeResponse(reply.request, 487));
      await this.#forks.refuse(reply);
      return;
    }
    this.#state = 'accepted';
    this.#cancelTimer();
    const dialog = this.#forks.win(reply);
    if (this.#options.acknowledge === 'automatic') await dialog.acknowledge();
    this.#resolve({ response: reply.response, dialog });
    this.emit('accepted', reply.response, dialog);
  }

  #reject(response: SipMessage): void {
    if (this.#state !== 'calling') return;
    this.#state = 'rejected';
    this.#cancelTimer();
    this.#forks.endEarly(response);
    this.#resolve({ response, dialog: null });
    this.emit('rejected', response);
  }
}

type ClientForksOptions = Pick<
  ClientInviteOptions,
  'context' | 'dialogs' | 'digest' | 'acknowledge'
>;

interface SentInvite {
  readonly request: SipMessage;
  readonly flow: Flow;
}

/** More branches of one call than that ring unheard; one of them may still answer. */
const FORKS_MAX = 16;

/** Dialogs of one outgoing INVITE, which proxies may fork to several peers. RFC 3261, 13.2.2.4. */
export class ClientForks {
  readonly #options: ClientForksOptions;
  /** Dialogs by the peer's tag. */
  readonly #forks = new Map<string, Dialog>();
  /** RSeq of the newest reliable provisional response of each. */
  readonly #reliable = new Map<string, number>();
  #winner: Dialog | undefined;

  constructor(options: ClientForksOptions) {
    this.#options = options;
  }

  /**
   * Handles a provisional response, and sends PRACK for a reliable one.
   *
   * @returns its early dialog; null without one; `repeat` for a retransmission.
   */
  early(response: SipMessage, sent: SentInvite): Dialog | null | 'repeat' {
    const tag = response.toTag;
    if (response.status === 100 || tag === '') return null;
    const known = this.#forks.get(tag);
    if (known === undefined && this.#forks.size >= FORKS_MAX) return null;
    const dialog = known ?? this.#open(response, sent);
    dialog.refreshTarget(response);
    dialog.noteAllow(response);
    if (!response.hasToken('require', '100rel')) return dialog;
    return this.#acknowledge(response, dialog) ? dialog : 'repeat';
  }

  /** Takes the 2xx that answers the call; the other early dialogs end. */
  win(reply: Reply): Dialog {
    const dialog = this.#confirm(reply);
    this.#winner = dialog;
    for (const [tag, fork] of [...this.#forks]) {
      if (fork === dialog) continue;
      // A fork that rang may answer too: its 2xx opens a dialog of its own, which `refuse` hangs up.
      this.#forks.delete(tag);
      fork.end({ cause: 'unanswered', message: reply.response });
    }
    const isManual = this.#options.acknowledge === 'manual';
    dialog.expectAck(reply, isManual ? () => void hangUp(dialog) : undefined);
    return dialog;
  }

  /** Answers an unwanted 2xx: ACK, then BYE. */
  async refuse(reply: Reply): Promise<void> {
    const dialog = this.#confirm(reply);
    dialog.expectAck(reply);
    await hangUp(dialog);
  }

  /** Handles a 2xx after the first: a retransmission, or another fork. */
  later(response: SipMessage, sent: SentInvite): void {
    const known = this.#forks.get(response.toTag);
    if (known !== undefined && known.state !== 'early') known.repeatAck(response);
    else if (known !== undefined || this.#forks.size < FORKS_MAX) {
      void this.refuse({ response, ...sent, isLocal: false });
    }
  }

  /** The call was not answered. */
  endEarly(response: SipMessage): void {
    for (const fork of [...this.#forks.values()]) {
      if (fork !== this.#winner) fork.end({ cause: 'unanswered', message: response });
    }
    this.#forks.clear();
  }

  #open(response: SipMessage, { request, flow }: SentInvite): Dialog {
    const { context, dialogs, digest } = this.#options;
    const data = clientDialogState(request, response);
    const dialog = dialogs.open({ context, data, flow, digest });
    if (request.body.length > 0) {
      dialog.localSession = request.body;
      dialog.pendingOffer = 'ours';
    }
    this.#forks.set(response.toTag, dialog);
    return dialog;
  }

  #confirm(reply: Reply): Dialog {
    const { response, request, flow } = reply;
    const early = this.#forks.get(response.toTag);
    const isUsable = early !== undefined && early.state === 'early';
    if (!isUsable) this.#forks.delete(response.toTag);
    const dialog = isUsable || flow === null ? early : this.#open(response, { request, flow });
    if (dialog === undefined) throw new SipError(503, 'Cannot take 2xx: it came by no flow');
    dialog.data = withAnswer(dialog.data, response);
    dialog.noteAllow(response);
    dialog.state = 'confirmed';
    dialog.pendingOffer = 'none';
    dialog.noteMinimum(request);
    dialog.sessionTimer.restart(answeredTerms(response), 'uac');
    return dialog;
  }

  /** False for a retransmission, and for a response out of order. RFC 3262, 4. */
  #acknowledge(response: SipMessage, dialog: Dialog): boolean {
    const rseq = Number(response.get('rseq'));
    const newest = this.#reliable.get(response.toTag);
    if (!Number.isInteger(rseq) || (newest !== undefined && rseq !== newest + 1)) return false;
    this.#reliable.set(response.toTag, rseq);
    if (response.body.length > 0) dialog.pendingOffer = 'none';
    const headers = { RAck: `${rseq} ${response.get('cseq') ?? ''}` };
    dialog.request('PRACK', { headers }).catch((error) => {
      this.#options.context.logger.warn({ error }, 'SIP PRACK could not be sent');
    });
    return true;
  }
}

/** Ends a call that was answered but is not wanted. */
async function hangUp(dialog: Dialog): Promise<void> {
  await dialog.acknowledge();
  await dialog.hangUp({ cause: 'local-bye', message: null });
}
