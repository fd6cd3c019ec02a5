/** The dialogs that one INVITE of ours makes: a proxy may bring it to several peers. RFC 3261, 13.2.2.4. */
import type { Dialog } from './dialog/dialog.ts';
import { clientDialogState, withAnswer } from './dialog/dialog-state.ts';
import type { DialogTable, OpenDialog } from './dialog/dialog-table.ts';
import type { DigestClient } from './digest/digest.ts';
import type { EngineContext } from './engine-context.ts';
import type { SipMessage } from './message/message.ts';
import { answeredTerms } from './message/session-expires.ts';
import { SipError } from './message/sip-error.ts';
import type { Reply } from './request-sender.ts';
import type { Flow } from './transport/flow.ts';

export interface ClientForksOptions {
  readonly context: EngineContext;
  readonly dialogs: DialogTable;
  readonly digest: DigestClient | undefined;
  readonly acknowledge: 'automatic' | 'manual';
}

interface SentInvite {
  readonly request: SipMessage;
  readonly flow: Flow;
}

/** More branches of one call than that ring unheard; one of them may still answer. */
const FORKS_MAX = 16;

export class ClientForks {
  readonly #options: ClientForksOptions;
  /** By the peer's tag. */
  readonly #forks = new Map<string, OpenDialog>();
  /** RSeq of the newest reliable provisional response of each. */
  readonly #reliable = new Map<string, number>();
  #winner: OpenDialog | undefined;

  constructor(options: ClientForksOptions) {
    this.#options = options;
  }

  /**
   * Takes a provisional response, and sends its PRACK where it wants one.
   *
   * @returns its early dialog; null where it makes none; `repeat` for one that came before.
   */
  early(response: SipMessage, sent: SentInvite): Dialog | null | 'repeat' {
    const tag = response.toTag;
    if (response.status === 100 || tag === '') return null;
    const known = this.#forks.get(tag);
    if (known === undefined && this.#forks.size >= FORKS_MAX) return null;
    const open = known ?? this.#open(response, sent);
    open.core.refreshTarget(response);
    open.core.noteAbilities(response);
    if (!response.hasToken('require', '100rel')) return open.dialog;
    return this.#acknowledge(response, open) ? open.dialog : 'repeat';
  }

  /** Takes the 2xx that answers the call; the other early dialogs end. */
  win(reply: Reply): OpenDialog {
    const open = this.#confirm(reply);
    this.#winner = open;
    for (const fork of [...this.#forks.values()]) {
      if (fork !== open) fork.core.end({ cause: 'unanswered', message: reply.response });
    }
    const isManual = this.#options.acknowledge === 'manual';
    open.outgoing.acks.expect(reply, isManual ? () => void hangUp(open) : undefined);
    return open;
  }

  /** Takes a 2xx that nobody wants any more: ACK, then BYE. */
  async refuse(reply: Reply): Promise<void> {
    const open = this.#confirm(reply);
    open.outgoing.acks.expect(reply);
    await hangUp(open);
  }

  /** Takes a 2xx behind the first: a repeat, or another fork. */
  later(response: SipMessage, sent: SentInvite): void {
    const known = this.#forks.get(response.toTag);
    if (known !== undefined && known.core.phase !== 'early') known.outgoing.acks.repeat(response);
    else if (known !== undefined || this.#forks.size < FORKS_MAX) {
      void this.refuse({ response, ...sent, isLocal: false });
    }
  }

  /** The call was not answered. */
  endEarly(response: SipMessage): void {
    for (const fork of [...this.#forks.values()]) {
      if (fork !== this.#winner) fork.core.end({ cause: 'unanswered', message: response });
    }
    this.#forks.clear();
  }

  #open(response: SipMessage, { request, flow }: SentInvite): OpenDialog {
    const { context, dialogs, digest } = this.#options;
    const state = clientDialogState(request, response);
    const open = dialogs.open({ context, state, flow, digest });
    if (request.body.length > 0) {
      open.core.localSession = request.body;
      open.core.pendingOffer = 'ours';
    }
    this.#forks.set(response.toTag, open);
    return open;
  }

  #confirm(reply: Reply): OpenDialog {
    const { response, request, flow } = reply;
    const early = this.#forks.get(response.toTag);
    const isUsable = early !== undefined && early.core.phase === 'early';
    if (!isUsable) this.#forks.delete(response.toTag);
    const open = isUsable || flow === null ? early : this.#open(response, { request, flow });
    if (open === undefined) throw new SipError(503, 'Cannot take 2xx: it came by no flow');
    const { core, outgoing } = open;
    core.state = withAnswer(core.state, response);
    core.noteAbilities(response);
    core.phase = 'confirmed';
    core.pendingOffer = 'none';
    outgoing.noteMinimum(request);
    outgoing.sessionTimer.restart(answeredTerms(response), 'uac');
    return open;
  }

  /** RFC 3262, 4. False for a repeat, or for one that comes before its turn. */
  #acknowledge(response: SipMessage, open: OpenDialog): boolean {
    const rseq = Number(response.get('rseq'));
    const newest = this.#reliable.get(response.toTag);
    if (!Number.isInteger(rseq) || (newest !== undefined && rseq !== newest + 1)) return false;
    this.#reliable.set(response.toTag, rseq);
    if (response.body.length > 0) open.core.pendingOffer = 'none';
    const headers = { RAck: `${rseq} ${response.get('cseq') ?? ''}` };
    open.outgoing.request('PRACK', { headers }).catch((error) => {
      this.#options.context.logger.warn({ error }, 'SIP PRACK could not be sent');
    });
    return true;
  }
}

/** Ends a call that was answered but not wanted. */
async function hangUp({ outgoing }: OpenDialog): Promise<void> {
  await outgoing.acknowledge();
  await outgoing.hangUp({ cause: 'local-bye', message: null }, {});
}
