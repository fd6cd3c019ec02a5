/** Journal entries of SIP dialogs, read from the messages that make them; pure */
import type { OpenDialog, OpenInvite } from '../../../domain/call/open-dialog.ts';
import type { SrfDialog, SrfMessage, SrfRequest } from './srf.ts';

/** Our side of a dialog before its answer. */
export interface OwnSide {
  readonly localTag: string;
  /** As `MediaEndpoint.channels`. */
  readonly channels: readonly string[];
}

type Facts = OwnSide & Pick<OpenDialog, 'sipCallId' | 'remoteTarget' | 'openedAt' | 'invite'>;

/** An outgoing INVITE as sent. */
export interface SentInvite {
  readonly message: Pick<SrfMessage, 'get'>;
  readonly invite: OpenInvite;
}

/** Entry of an answered dialog, incoming or outgoing. @see RFC 3261 section 12.1 */
export function openDialogOf(
  dialog: SrfDialog,
  channels: readonly string[],
  openedAt: Date,
): OpenDialog {
  const { type, sip, req, res, remote } = dialog;
  const { callId: sipCallId, localTag } = sip;
  const facts = { sipCallId, remoteTarget: remote.uri, channels, openedAt, invite: null };
  if (type === 'uas') return answeredDialog(req, { ...facts, localTag });
  return {
    ...facts,
    id: idOf(sipCallId, localTag),
    localParty: req.get('from') ?? '',
    remoteParty: res.get('to') ?? '',
    routes: listOf(res.get('record-route') ?? '').reverse(),
    sequence: sequenceOf(req),
  };
}

/** Entry of the dialog that our answer to an INVITE creates. */
export function answeredDialog(invite: Pick<SrfMessage, 'get'>, facts: Facts): OpenDialog {
  const { localTag, ...others } = facts;
  return {
    ...others,
    id: idOf(facts.sipCallId, localTag),
    localParty: withTag(invite.get('to') ?? '', localTag),
    remoteParty: invite.get('from') ?? '',
    routes: listOf(invite.get('record-route') ?? ''),
    sequence: 0,
  };
}

/** Entry of an unanswered outgoing call. */
export function callingDialog(
  { message, invite }: SentInvite,
  facts: Pick<OpenDialog, 'sipCallId' | 'channels' | 'openedAt'>,
): OpenDialog {
  const localParty = message.get('from') ?? '';
  const [, localTag = ''] = /;\s*tag=([^;\s]+)/i.exec(localParty) ?? [];
  return {
    ...facts,
    id: idOf(facts.sipCallId, localTag),
    localParty,
    remoteParty: message.get('to') ?? '',
    remoteTarget: '',
    routes: [],
    sequence: sequenceOf(message),
    invite,
  };
}

/** Transaction of an incoming INVITE. @param server as reports name it. */
export function callersInvite(request: SrfRequest, server: string): OpenInvite {
  const { protocol, source_address: address, source_port: port } = request;
  const peer = { protocol: protocol.toUpperCase(), address, port };
  const { stackTxnId: transactionId } = request;
  return { direction: 'in', server, transactionId, head: headOf(request.raw), peer };
}

/** Start line and headers of a message, with an empty body. */
export function headOf(message: string): string {
  const [head = ''] = message.split('\r\n\r\n', 1);
  const ofBody = /^(content-length|l|content-type|c)\s*:/i;
  const lines = head.split('\r\n').filter((line) => !ofBody.test(line));
  return [...lines, 'Content-Length: 0', '', ''].join('\r\n');
}

/** Key of a dialog in the journal. */
export function idOf(sipCallId: string, localTag: string): string {
  return `${sipCallId};${localTag}`;
}

/** Of a Contact: `"Bob" <sip:bob@192.0.2.1>;expires=60`, or a bare address. */
export function uriOf(contact: string): string {
  const bare = contact.replace(/"(?:[^"\\]|\\.)*"/g, '');
  return /<([^>]*)>/.exec(bare)?.[1] ?? bare.split(/[;,]/, 1)[0]?.trim() ?? '';
}

/** Header with our tag, unless it has one. */
export function withTag(party: string, tag: string): string {
  return /;\s*tag=/i.test(party) ? party : `${party};tag=${tag}`;
}

/** Commas within `<` and `>` separate nothing. */
function listOf(header: string): string[] {
  return header.match(/[^,<]*<[^>]*>[^,]*/g)?.map((value) => value.trim()) ?? [];
}

function sequenceOf(message: Pick<SrfMessage, 'get'>): number {
  return Number.parseInt(message.get('cseq') ?? '0', 10);
}
