/** State of a dialog: the state of RFC 3261, section 12, and the flow, pending offer and end that both directions share. */
import { EventEmitter } from 'node:events';
import { rangeOfAddress } from '../../lib/local-routes.ts';
import type { DigestClient } from '../digest.ts';
import { type MessageIds, SipMessage } from '../message/message.ts';
import { ifSound } from '../message/status.ts';
import { formatUri, parseUri } from '../message/uri.ts';
import { addCapabilities, type ServerReinvite, type ServerRequest } from '../own-messages.ts';
import type { AckWait, ReliableProvisionals } from '../transaction/reliable-responses.ts';
import { bareHost, type Flow } from '../transport/flow.ts';
import { routeUri } from '../transport/next-hop.ts';
import type { EngineContext } from '../user-agent-options.ts';

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

const MAKES_SESSION = new Set(['INVITE', 'UPDATE']);

/** Constructor parameters of a dialog. */
export interface DialogOptions {
  readonly context: EngineContext;
  readonly data: DialogState;
  readonly flow: Flow;
  /** Answers challenges to the dialog's requests. */
  readonly digest?: DigestClient | undefined;
  /** Called when no message of the dialog waits for an answer any more. */
  readonly onOver: () => void;
}

/** State and events of one dialog. Applications use its subclass `Dialog`. */
export class DialogCore extends EventEmitter<DialogEvents> {
  /** Call-ID, local and remote tag, joined by `|`. */
  readonly id: string;
  readonly context: EngineContext;
  readonly digest: DigestClient | undefined;
  /** State by RFC 3261, section 12. */
  data: DialogState;
  state: 'early' | 'confirmed' | 'ended' = 'early';
  /** Side whose INVITE or UPDATE with an offer has no final response yet. */
  pendingOffer: 'none' | 'ours' | 'theirs' = 'none';
  /** Our newest 2xx to INVITE, while and after it waits for its ACK. */
  ackWait: AckWait | undefined;
  /** Our reliable provisional responses, while the INVITE that made the dialog is unanswered. */
  provisionals: ReliableProvisionals | undefined;
  /** Session description of our last message; a refresh by INVITE repeats it. */
  localSession: Buffer | undefined;
  readonly onOver: () => void;
  #flow: Flow;
  #forgetFlow: () => void = () => undefined;
  #peerAllows: readonly string[] = [];
  readonly #onEnd = new Set<() => void>();

  constructor({ context, data, flow, digest, onOver }: DialogOptions) {
    super();
    this.id = dialogId(data.callId, data.localTag, data.remoteTag);
    this.context = context;
    this.digest = digest;
    this.data = data;
    this.onOver = onOver;
    this.#flow = flow;
    this.#watchFlow();
  }

  /** Flow of the peer's newest request. */
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
    if (methods.length > 0) this.#peerAllows = methods.map((name) => name.toUpperCase());
  }

  peerAllows(method: string): boolean {
    return this.#peerAllows.includes(method);
  }

  refreshTarget(message: SipMessage): void {
    this.data = withTarget(this.data, message);
  }

  nextSequence(): number {
    const localSequence = this.data.localSequence + 1;
    this.data = { ...this.data, localSequence };
    return localSequence;
  }

  /** Makes a request with the next sequence number; an ACK repeats its INVITE's. */
  newRequest(method: string, sequence = this.nextSequence()): SipMessage {
    const request = requestInDialog(this.data, method, sequence);
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
    const [route] = this.data.routeSet;
    if (route === undefined) return flow;
    const uri = routeUri(route);
    const transport = uri?.params.get('transport')?.toUpperCase() ?? flow.protocol;
    const isSamePeer = bareHost(uri?.host ?? '') === flow.remote.address;
    return isSamePeer && transport === flow.protocol ? flow : undefined;
  }

  /**
   * Where the next request goes. The flow of the peer's newest request is the last resort: peers give a Contact with a name
   * that they alone know, or with a transport that they do not listen on. For a peer behind a NAT it is the first.
   */
  way(): { readonly flow: Flow | undefined; readonly nextHop: string; readonly lastResort: Flow } {
    const { remoteTarget, routeSet } = this.data;
    const [route] = routeSet;
    const hop = route === undefined ? undefined : routeUri(route);
    const nextHop =
      hop === undefined ? (route ?? remoteTarget) : formatUri({ ...hop, headers: '' });
    const flow = this.reusableFlow() ?? (this.#isBehindNat() ? this.#flow : undefined);
    return { flow, nextHop, lastResort: this.#flow };
  }

  /**
   * Whether the peer's Contact has a private address, and its messages come from another network. What is sent to such a
   * Contact over UDP is lost without an error.
   */
  #isBehindNat(): boolean {
    if (this.data.routeSet.length > 0) return false;
    const target = ifSound(() => parseUri(this.data.remoteTarget));
    const isPrivate = rangeOfAddress(bareHost(target?.host ?? '')) === 'private';
    const isPlain = target?.scheme === 'sip';
    return isPlain && isPrivate && rangeOfAddress(this.#flow.remote.address) !== 'private';
  }

  /** Waits; returns early when the dialog ends. */
  sleep(waitMs: number): Promise<void> {
    if (this.state === 'ended') return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#onEnd.delete(wake);
        resolve();
      };
      const cancel = this.context.clock.after(waitMs, wake);
      this.#onEnd.add(wake);
    });
  }

  /** Has `stop` called at the end, before the application hears of it. */
  stopAtEnd(stop: () => void): void {
    this.#onEnd.add(stop);
  }

  /**
   * Ends the dialog, once, and settles everything that waits on it.
   *
   * @param isLast false while a BYE of ours is unanswered: the peer's BYE may cross it.
   */
  end(end: DialogEnd, isLast = true): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.#forgetFlow();
    this.ackWait?.settle(null);
    this.provisionals?.stop();
    for (const stop of [...this.#onEnd]) stop();
    this.#emitSafely(() => this.emit('ended', end));
    if (isLast) this.onOver();
  }

  #watchFlow(): void {
    const { protocol } = this.#flow;
    this.#forgetFlow = this.#flow.onClosed(() => {
      this.#emitSafely(() => this.emit('disconnected'));
      // We cannot open a connection to a browser: its requests and ours are lost, so the call is over.
      const isWebSocket = protocol === 'WS' || protocol === 'WSS';
      if (isWebSocket) this.end({ cause: 'peer-gone', message: null });
    });
  }

  /** Timers and closed connections emit too; an exception of a listener would end the process there. */
  #emitSafely(emit: () => void): void {
    try {
      emit();
    } catch (error) {
      this.context.logger.error({ error }, 'SIP dialog event could not be handled');
    }
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

/** Dialog state. @see RFC 3261 section 12 */
interface DialogState {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** Value of From in our requests, tag included. */
  readonly localAddress: string;
  /** Value of To in our requests. */
  readonly remoteAddress: string;
  /** URI that our requests are for: the peer's newest Contact. */
  readonly remoteTarget: string;
  /** Route values, next hop first. */
  readonly routeSet: readonly string[];
  readonly localSequence: number;
  /** Number of the newest request of the peer; null before its first. */
  readonly remoteSequence: number | null;
  /** Whether the INVITE that made the dialog was ours. */
  readonly isInitiator: boolean;
}

/** Call-ID, local tag and remote tag: no two dialogs have all three alike. */
function dialogId(callId: string, localTag: string, remoteTag: string): string {
  return [callId, localTag, remoteTag].join('|');
}

/** The dialog that a request of the peer is for. */
export function dialogIdOfRequest({ callId, fromTag, toTag }: MessageIds): string {
  return dialogId(callId, toTag, fromTag);
}

/**
 * The state at the server, from the request and the tag its responses carry.
 *
 * @see RFC 3261 section 12.1.1
 */
export function serverDialogState(
  request: SipMessage,
  ids: MessageIds,
  localTag: string,
  localSequence: number,
): DialogState {
  return {
    callId: ids.callId,
    localTag,
    remoteTag: ids.fromTag,
    localAddress: `${request.get('to') ?? ''};tag=${localTag}`,
    remoteAddress: request.get('from') ?? '',
    remoteTarget: (request.contact ?? request.from).uri,
    routeSet: request.list('record-route'),
    localSequence,
    remoteSequence: ids.sequence,
    isInitiator: false,
  };
}

/**
 * The state at the client, from its request and one response to it.
 *
 * @see RFC 3261 section 12.1.2
 */
export function clientDialogState(request: SipMessage, response: SipMessage): DialogState {
  return {
    callId: response.callId,
    localTag: request.fromTag,
    remoteTag: response.toTag,
    localAddress: request.get('from') ?? '',
    remoteAddress: response.get('to') ?? '',
    remoteTarget: response.contact?.uri ?? request.uri,
    routeSet: response.list('record-route').reverse(),
    localSequence: request.cseq.seq,
    remoteSequence: null,
    isInitiator: true,
  };
}

/** The state after a target refresh: a Contact in INVITE, UPDATE, or a 2xx to them. */
export function withTarget(state: DialogState, message: SipMessage): DialogState {
  const { contact } = message;
  return contact === undefined ? state : { ...state, remoteTarget: contact.uri };
}

/** State after the 2xx, whose Record-Route replaces that of the early dialog. RFC 3261, 13.2.2.4. */
export function withAnswer(state: DialogState, response: SipMessage): DialogState {
  return withTarget({ ...state, routeSet: response.list('record-route').reverse() }, response);
}

/**
 * Makes a request inside the dialog.
 *
 * If the next hop is a strict router (its Route lacks `lr`), the Request-URI is that hop and the peer's address is
 * the last Route.
 *
 * @see RFC 3261 section 12.2.1.1
 */
export function requestInDialog(state: DialogState, method: string, sequence: number): SipMessage {
  const request = new SipMessage();
  request.method = method;
  const [first, ...others] = state.routeSet;
  const hop = first === undefined ? undefined : routeUri(first);
  const isStrict = hop !== undefined && !hop.params.has('lr');

  request.uri = isStrict ? formatUri({ ...hop, headers: '' }) : state.remoteTarget;
  const routes = isStrict ? [...others, `<${state.remoteTarget}>`] : state.routeSet;
  for (const route of routes) request.add('route', route);
  return request
    .add('max-forwards', 70)
    .add('from', state.localAddress)
    .add('to', state.remoteAddress)
    .add('call-id', state.callId)
    .add('cseq', `${sequence} ${method}`);
}
