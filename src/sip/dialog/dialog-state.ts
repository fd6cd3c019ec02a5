/** The state of a dialog as RFC 3261, section 12 defines it, and the requests made from it; pure */
import { type MessageIds, SipMessage } from '../message/message.ts';
import { ifSound } from '../message/status.ts';
import { formatUri, parseNameAddr, parseUri, type SipUri } from '../message/uri.ts';

/** Dialog state. @see RFC 3261 section 12 */
export interface DialogState {
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
export function dialogId(callId: string, localTag: string, remoteTag: string): string {
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

/** Next hop of a request: its first Route, otherwise its Request-URI. */
export function nextHopUri(request: SipMessage): string {
  const [route] = request.list('route');
  return route === undefined ? request.uri : parseNameAddr(route).uri;
}

/** URI of a Route; undefined for one that cannot be sent to. */
export function routeUri(route: string): SipUri | undefined {
  const uri = ifSound(() => parseUri(parseNameAddr(route).uri));
  return uri?.scheme === 'tel' ? undefined : uri;
}
