/** State shared by both directions of a dialog: RFC 3261 state, flow, pending offer, end. */
import type { DigestClient } from '../digest/digest.ts';
import type { SipMessage } from '../message/message.ts';
import { addCapabilities } from '../own-messages.ts';
import type { ServerReinvite, ServerRequest } from '../requests.ts';
import type { AckWait, ReliableProvisionals } from '../transaction/reliable-responses.ts';
import { bareHost, type Flow } from '../transport/flow.ts';
import type { EngineContext } from '../user-agent-options.ts';
import {
  type DialogState,
  dialogId,
  requestInDialog,
  routeUri,
  withTarget,
} from './dialog-state.ts';

const NO_METHODS: ReadonlySet<string> = new Set();

const MAKES_SESSION = new Set(['INVITE', 'UPDATE']);

/** Constructor parameters of `DialogCore`. */
export interface DialogCoreOptions {
  readonly context: EngineContext;
  readonly state: DialogState;
  readonly flow: Flow;
  readonly hooks: DialogHooks;
  /** Answers challenges to the dialog's requests. */
  readonly digest?: DigestClient | undefined;
}

/** State that both directions of one dialog share. */
export class DialogCore {
  readonly id: string;
  readonly context: EngineContext;
  readonly digest: DigestClient | undefined;
  readonly #hooks: DialogHooks;
  state: DialogState;
  phase: 'early' | 'confirmed' | 'ended' = 'early';
  /** Side whose INVITE or UPDATE with an offer has no final response yet. */
  pendingOffer: 'none' | 'ours' | 'theirs' = 'none';
  /** Our newest 2xx to INVITE, while and after it waits for its ACK. */
  ackWait: AckWait | undefined;
  /** Our reliable provisional responses, while the INVITE that made the dialog is unanswered. */
  provisionals: ReliableProvisionals | undefined;
  /** Session description of our last message; a refresh by INVITE repeats it. */
  localSession: Buffer | undefined;
  #flow: Flow;
  #forgetFlow: () => void = () => undefined;
  #peerAllows: ReadonlySet<string> = NO_METHODS;
  /** Created for the first waiter: most dialogs have none. */
  #wakers: Set<() => void> | undefined;

  constructor(options: DialogCoreOptions) {
    const { state } = options;
    this.id = dialogId(state.callId, state.localTag, state.remoteTag);
    this.context = options.context;
    this.digest = options.digest;
    this.state = state;
    this.#hooks = options.hooks;
    this.#flow = options.flow;
    this.#watchFlow();
  }

  get hooks(): DialogHooks {
    return this.#hooks;
  }

  get flow(): Flow {
    return this.#flow;
  }

  /** Notes the flow of the peer's newest request. */
  noteFlow(flow: Flow): void {
    if (flow === this.#flow) return;
    this.#forgetFlow();
    this.#flow = flow;
    this.#watchFlow();
  }

  /** Notes the methods in the Allow header of the peer. */
  noteAllow(message: SipMessage): void {
    const methods = message.list('allow');
    if (methods.length > 0) this.#peerAllows = new Set(methods.map((name) => name.toUpperCase()));
  }

  peerAllows(method: string): boolean {
    return this.#peerAllows.has(method);
  }

  refreshTarget(message: SipMessage): void {
    this.state = withTarget(this.state, message);
  }

  nextSequence(): number {
    const localSequence = this.state.localSequence + 1;
    this.state = { ...this.state, localSequence };
    return localSequence;
  }

  /** Makes a request with the next sequence number; an ACK has that of its INVITE. */
  newRequest(method: string, sequence = this.nextSequence()): SipMessage {
    const request = requestInDialog(this.state, method, sequence);
    if (MAKES_SESSION.has(method)) addCapabilities(request);
    if (this.context.product !== undefined) request.add('user-agent', this.context.product);
    return request;
  }

  /**
   * Connection that the peer opened, if requests may return over it: without a route set, or when the first proxy is
   * the connection's peer and merely omits `transport=tcp`.
   */
  reusableFlow(): Flow | undefined {
    const flow = this.#flow;
    if (!flow.isReliable || !flow.isOpen) return undefined;
    const [route] = this.state.routeSet;
    if (route === undefined) return flow;
    const uri = routeUri(route);
    const transport = uri?.params.get('transport')?.toUpperCase() ?? flow.protocol;
    const isSamePeer = bareHost(uri?.host ?? '') === flow.remote.address;
    return isSamePeer && transport === flow.protocol ? flow : undefined;
  }

  /** Waits; returns early when the dialog ends. */
  sleep(waitMs: number): Promise<void> {
    if (this.phase === 'ended') return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#wakers?.delete(wake);
        resolve();
      };
      const cancel = this.context.clock.after(waitMs, wake);
      this.#wakers ??= new Set();
      this.#wakers.add(wake);
    });
  }

  /**
   * Ends the dialog, once, and settles everything that waits on it.
   *
   * @param isLast false while a BYE of ours is unanswered: the peer's BYE may cross it.
   */
  end(end: DialogEnd, isLast = true): void {
    if (this.phase === 'ended') return;
    this.phase = 'ended';
    this.#forgetFlow();
    this.ackWait?.settle(null);
    this.provisionals?.stop();
    for (const wake of [...(this.#wakers ?? [])]) wake();
    this.#hooks.onEnded(end);
    if (isLast) this.#hooks.onOver();
  }

  #watchFlow(): void {
    const { protocol } = this.#flow;
    this.#forgetFlow = this.#flow.onClosed(() => {
      this.#hooks.onDisconnected();
      // We cannot open a connection to a browser: its requests and ours are lost, so the call is over.
      const isWebSocket = protocol === 'WS' || protocol === 'WSS';
      if (isWebSocket) this.end({ cause: 'peer-gone', message: null });
    });
  }
}

/** Why a dialog is over. */
export interface DialogEnd {
  readonly cause: /** We sent BYE. */
    | 'local-bye'
    | 'remote-bye'
    /** Early dialog whose INVITE was refused, cancelled, or answered by another fork. */
    | 'unanswered'
    /** Our 2xx was never acknowledged; BYE has been sent. */
    | 'no-ack'
    /** The session was not refreshed in time; BYE has been sent. RFC 4028, 10. */
    | 'session-expired'
    /** The peer answered a request with 481 or not at all, or its WebSocket is closed. RFC 3261, 12.2.1.2. */
    | 'peer-gone'
    | 'stopped';
  /** Request or response that ended the dialog; null without one. */
  readonly message: SipMessage | null;
}

/** Events from both directions of a dialog to its owner. */
interface DialogHooks {
  /** Returns whether a listener takes the request; the engine refuses it otherwise. */
  onRequest(request: ServerRequest): boolean;
  onReinvite(request: ServerReinvite): boolean;
  onAck(ack: SipMessage): void;
  onDisconnected(): void;
  onEnded(end: DialogEnd): void;
  /** Nothing of it is left to be answered. */
  onOver(): void;
}
