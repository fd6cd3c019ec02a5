/** SIP dialogs as applications see them, and the table of all dialogs of a user agent. */

import { EventEmitter } from 'node:events';
import type { Logger } from '../../lib/logger.ts';
import type { MessageIds } from '../message/identifiers.ts';
import type { SipMessage } from '../message/message.ts';
import { SipError } from '../message/status.ts';
import type { MessageParts, OutgoingReinvite, ServerReinvite, ServerRequest } from '../requests.ts';
import type { Flow } from '../transport/flow.ts';
import { TurnoverMap } from '../turnover-map.ts';
import { DialogCore, type DialogCoreOptions, type DialogEnd } from './dialog-core.ts';
import { DialogIncoming } from './dialog-incoming.ts';
import { DialogOutgoing } from './dialog-outgoing.ts';
import { dialogIdOfRequest } from './dialog-state.ts';

export type { DialogEnd };

interface DialogEvents {
  /**
   * INFO, NOTIFY, REFER, and UPDATE with a body; call `respond`. Without a listener: 603, or 488 for
   * UPDATE. BYE, PRACK, OPTIONS and UPDATE without a body are answered by the engine.
   */
  request: [ServerRequest];
  /** An INVITE inside the dialog: hold, new SDP. Call `respond`. Without a listener: 488. */
  reinvite: [ServerReinvite];
  /** First ACK of each 2xx of ours. */
  ack: [SipMessage];
  /**
   * The TCP connection is closed. The dialog goes on: its next request opens another. A closed WebSocket also ends
   * the dialog.
   */
  disconnected: [];
  /** Exactly once. */
  ended: [DialogEnd];
}

/** Made by the user agent, never by applications. */
export class Dialog extends EventEmitter<DialogEvents> {
  readonly #core: DialogCore;
  readonly #outgoing: DialogOutgoing;

  constructor(core: DialogCore, outgoing: DialogOutgoing) {
    super();
    this.#core = core;
    this.#outgoing = outgoing;
  }

  /** Call-ID, local and remote tag, joined by `|`. */
  get id(): string {
    return this.#core.id;
  }

  get callId(): string {
    return this.#core.state.callId;
  }

  get localTag(): string {
    return this.#core.state.localTag;
  }

  get remoteTag(): string {
    return this.#core.state.remoteTag;
  }

  /** Target of our requests: the peer's newest Contact. */
  get remoteTarget(): string {
    return this.#core.state.remoteTarget;
  }

  /** The value that our requests have in From; the peer's is their To. */
  get localAddress(): string {
    return this.#core.state.localAddress;
  }

  get remoteAddress(): string {
    return this.#core.state.remoteAddress;
  }

  /** Flow of the peer's newest request. */
  get flow(): Flow {
    return this.#core.flow;
  }

  get state(): 'early' | 'confirmed' | 'ended' {
    return this.#core.phase;
  }

  /**
   * Sends a request and resolves with its final response; a time-out gives a local 408, an unreachable peer a local
   * 503. Challenges are answered with the credentials of the call. `INVITE` uses {@link reinvite} and `BYE` uses
   * {@link bye}.
   *
   * @throws {SipError} 481 when the dialog has ended; 491 when another INVITE is in progress.
   */
  async request(method: string, parts: OutgoingReinvite = {}): Promise<SipMessage> {
    if (method === 'INVITE') return await this.#outgoing.reinvite(parts);
    if (method !== 'BYE') return await this.#outgoing.request(method, parts);
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
    return await this.#outgoing.reinvite(parts);
  }

  /**
   * Acknowledges the newest 2xx to our INVITE; needed with `acknowledge: 'manual'` only.
   *
   * @returns the ACK as sent.
   * @throws {SipError} 481 when no 2xx waits for its ACK; 503 when nothing leads to the peer.
   */
  async ack(parts: MessageParts = {}): Promise<SipMessage> {
    return await this.#outgoing.acks.send(parts);
  }

  /**
   * Ends the dialog and resolves with the response to BYE; null when the dialog has already ended.
   *
   * The callee waits for the ACK first. RFC 3261, 15.
   *
   * @throws {SipError} 481 for an incoming call that is not accepted: reject it instead.
   */
  async bye(parts: OutgoingReinvite = {}): Promise<SipMessage | null> {
    if (this.state === 'early' && !this.#core.state.isInitiator) {
      throw new SipError(481, `Cannot send BYE in dialog "${this.id}": call is not accepted`);
    }
    return await this.#outgoing.hangUp({ cause: 'local-bye', message: null }, parts);
  }
}

/** A dialog with all its parts. Applications see the first only. */
export interface OpenDialog {
  readonly dialog: Dialog;
  readonly core: DialogCore;
  readonly incoming: DialogIncoming;
  readonly outgoing: DialogOutgoing;
}

/** All dialogs, by Call-ID and tags. */
export class DialogTable {
  readonly #dialogs = new TurnoverMap<OpenDialog>();

  get size(): number {
    return this.#dialogs.size;
  }

  get(id: string): OpenDialog | undefined {
    return this.#dialogs.get(id);
  }

  /** The dialog that a request of a peer is for. */
  ofRequest(ids: MessageIds): OpenDialog | undefined {
    return this.#dialogs.get(dialogIdOfRequest(ids));
  }

  /** Creates an early dialog, which stays in the table until its end. */
  open(options: Omit<DialogCoreOptions, 'hooks'>): OpenDialog {
    const core: DialogCore = new DialogCore({
      ...options,
      hooks: {
        onRequest: (request) => dialog.emit('request', request),
        onReinvite: (request) => dialog.emit('reinvite', request),
        onAck: (ack) => dialog.emit('ack', ack),
        onDisconnected: () => emitSafely(() => dialog.emit('disconnected'), options.context.logger),
        onEnded: (end) => {
          incoming.dropPending();
          outgoing.sessionTimer.stop();
          emitSafely(() => dialog.emit('ended', end), options.context.logger);
        },
        onOver: () => this.#dialogs.delete(core.id),
      },
    });
    const outgoing = new DialogOutgoing(core);
    const incoming = new DialogIncoming(core, outgoing);
    const dialog = new Dialog(core, outgoing);
    const open = { dialog, core, incoming, outgoing };
    this.#dialogs.set(core.id, open);
    return open;
  }

  stop(): void {
    for (const { core } of this.#dialogs.values()) {
      core.end({ cause: 'stopped', message: null });
      core.hooks.onOver();
    }
  }
}

/** Timers and closed connections emit these too; an exception of a listener would end the process there. */
function emitSafely(emit: () => void, logger: Logger): void {
  try {
    emit();
  } catch (error) {
    logger.error({ error }, 'SIP dialog event could not be handled');
  }
}
