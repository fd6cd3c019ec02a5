/** What the two directions of a dialog share: its state, its flow, what is in progress, its end. */
import type { DigestClient } from '../digest/digest.ts';
import type { SipMessage } from '../message/message.ts';
import { doNothing } from '../noop.ts';
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

export interface DialogCoreOptions {
  readonly context: EngineContext;
  readonly state: DialogState;
  readonly flow: Flow;
  readonly hooks: DialogHooks;
  /** Answers challenges to the dialog's requests. */
  readonly digest?: DigestClient | undefined;
}

export class DialogCore {
  readonly id: string;
  readonly context: EngineContext;
  readonly digest: DigestClient | undefined;
  readonly #hooks: DialogHooks;
  state: DialogState;
  phase: 'early' | 'confirmed' | 'ended' = 'early';
  /** Whose INVITE or UPDATE with an offer has no final response yet. */
  pendingOffer: 'none' | 'ours' | 'theirs' = 'none';
  /** Our newest 2xx to INVITE, while and after it waits for its ACK. */
  ackWait: AckWait | undefined;
  /** Our reliable provisional responses, while the INVITE that made the dialog is unanswered. */
  provisionals: ReliableProvisionals | undefined;
  /** The session description we sent last: what a refresh by INVITE repeats. */
  localSession: Buffer | undefined;
  #flow: Flow;
  #forgetFlow: () => void = doNothing;
  #peerAllows: ReadonlySet<string> = NO_METHODS;
  /** Made for the first who waits: most calls have none. */
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

  /** Notes where the peer was heard. */
  noteFlow(flow: Flow): void {
    if (flow === this.#flow) return;
    this.#forgetFlow();
    this.#flow = flow;
    this.#watchFlow();
  }

  /** Notes what a message says of its sender: methods it takes, and where it wants requests. */
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

  /** A request of ours with the next number; an ACK has the number of its INVITE. */
  newRequest(method: string, sequence = this.nextSequence()): SipMessage {
    const request = requestInDialog(this.state, method, sequence);
    if (MAKES_SESSION.has(method)) addCapabilities(request);
    if (this.context.product !== undefined) request.add('user-agent', this.context.product);
    return request;
  }

  /**
   * The connection the peer opened to us, where requests may go back over it: it has no route set,
   * or its first proxy is the connection's peer and has merely left out `transport=tcp`.
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

  /** Waits; less long when the dialog ends meanwhile. */
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
   * Ends it, once: whoever waits on it is told.
   *
   * @param isLast false when a BYE of ours is still to be answered: the peer's may cross it.
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
      // Nobody can open another one to a browser: neither will our requests reach it, nor does it still hear its call.
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
    /** An early dialog whose INVITE was refused, cancelled, or answered by another fork. */
    | 'unanswered'
    /** Our 2xx was never acknowledged; BYE has been sent. */
    | 'no-ack'
    /** The session was not refreshed in time; BYE has been sent. RFC 4028, 10. */
    | 'session-expired'
    /** The peer answered a request with 481 or not at all, or its WebSocket is closed. RFC 3261, 12.2.1.2. */
    | 'peer-gone'
    | 'stopped';
  /** The request or response that ended it, where there is one. */
  readonly message: SipMessage | null;
}

/** How the two directions of a dialog reach whoever holds it. */
interface DialogHooks {
  /** Returns whether anyone takes it; otherwise the engine refuses. */
  onRequest(request: ServerRequest): boolean;
  onReinvite(request: ServerReinvite): boolean;
  onAck(ack: SipMessage): void;
  onDisconnected(): void;
  onEnded(end: DialogEnd): void;
  /** Nothing of it is left to be answered. */
  onOver(): void;
}
