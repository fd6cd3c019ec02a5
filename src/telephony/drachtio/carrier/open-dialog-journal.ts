/** Journal of open SIP dialogs on disk; ends dialogs orphaned by a restart or a lost SIP server. */
import type { CallPrice } from '../../../domain/call/call-cost.ts';
import type {
  DialogStore,
  OpenDialog,
  OpenInvite,
  OpenPeer,
} from '../../../domain/call/open-dialog.ts';
import { type Clock, TRANSACTION_MS, within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { withoutQuotedText } from '../../call-headers.ts';
import { hostPortOfUri } from '../../trunks/trunk-table.ts';
import { DialogWrites } from './dialog-writes.ts';
import { type EndInvite, endAnswered, type FindProxy } from './orphaned-calls.ts';
import {
  reasonOf,
  type SrfClient,
  type SrfDialog,
  type SrfMessage,
  type SrfRequest,
  type SrfSource,
} from './srf.ts';

/** Limit of calls ended at a time, so that a server that comes back can take new ones. */
const ENDS_AT_ONCE = 20;

interface OpenDialogJournalOptions {
  readonly store: Pick<DialogStore, 'save' | 'remove'>;
  /** Dialogs that an earlier process left. */
  readonly orphans: readonly OpenDialog[];
  /** Another way to the next hop of a BYE; default: none. */
  readonly findProxy?: FindProxy;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One SIP server and the connection to it. */
export interface ServerConnection {
  /** Name of the server in reports. */
  readonly name: string;
  readonly srf: SrfClient;
  readonly endInvite: EndInvite;
}

/** Handle of a dialog in the journal. */
export interface JournalEntry {
  /** Empty before the INVITE of an outgoing call. */
  readonly id: string;
  /** Resolves when it is on disk, or could not be saved yet. */
  readonly saved: Promise<void>;
  /** The far end knows that the call is over. Safe to call twice. */
  forget(): void;
  /** The call is over for us only: the far end is informed once a server is connected. */
  orphan(): void;
}

/** One for all SIP servers. Create it before the first call: all entries at that time are orphans. */
export class OpenDialogJournal {
  readonly #options: OpenDialogJournalOptions;
  /** Dialogs whose calls are over, and whose far ends do not know yet. */
  readonly #orphans: OpenDialog[];
  /** Unanswered outgoing calls, by Call-ID. */
  readonly #calling = new Map<string, (sent: SentInvite) => void>();
  /** Connected servers. BYE goes by any of them, CANCEL and refusals by the transaction's own. */
  readonly #servers = new Set<ServerConnection>();
  #endsInProgress = 0;
  readonly #writes: DialogWrites;

  constructor(options: OpenDialogJournalOptions) {
    this.#options = options;
    this.#writes = new DialogWrites(options);
    this.#orphans = [...options.orphans];
  }

  /** Legs of orphaned dialogs on media servers. */
  get orphanChannels(): readonly string[] {
    return this.#orphans.flatMap(({ channels }) => channels);
  }

  /** Drops orphaned INVITEs of servers that are not configured any more. @param names of the configured SIP servers. */
  useServers(names: readonly string[]): void {
    for (const orphan of this.#orphans.filter(({ invite }) => invite !== null)) {
      const { server = '', direction = 'out' } = orphan.invite ?? {};
      if (names.includes(server)) continue;
      this.#orphans.splice(this.#orphans.indexOf(orphan), 1);
      this.#forget(orphan);
      this.#options.log.warn(
        { server, direction },
        'cannot end an unanswered call: its SIP server is not configured',
      );
    }
  }

  /** Saves an incoming INVITE, so that a later process can refuse it. */
  ring(invite: SrfRequest, facts: OwnSide & { readonly server: string }): JournalEntry {
    const { server, ...own } = facts;
    return this.#save({ ...this.#callers(invite, own), invite: callersInvite(invite, server) });
  }

  /** Saves a dialog that our 200 will make: await `saved` first, so that a crash never leaves one that only the far end knows. */
  expect(invite: SrfRequest, facts: OwnSide): JournalEntry {
    return this.#save(this.#callers(invite, facts));
  }

  /** Announces an outgoing call; each `sent` saves its INVITE. */
  begin(sipCallId: string, channels: readonly string[]): JournalEntry {
    let saved: JournalEntry | undefined;
    this.#calling.set(sipCallId, (sent) => {
      const openedAt = this.#options.clock.now();
      saved = this.#save(callingDialog(sent, { sipCallId, channels, openedAt }));
    });
    const take = () => {
      this.#calling.delete(sipCallId);
      return saved;
    };
    return {
      get id() {
        return saved?.id ?? '';
      },
      get saved() {
        return saved?.saved ?? Promise.resolve();
      },
      forget: () => take()?.forget(),
      orphan: () => take()?.orphan(),
    };
  }

  /** Saves an outgoing INVITE; a retry with credentials replaces the first. Ignores calls that were not announced. */
  sent(sipCallId: string, sent: SentInvite): void {
    this.#calling.get(sipCallId)?.(sent);
  }

  /** Saves an answered dialog. @param facts.expected its earlier entry; a server may have chosen another tag. */
  answered(dialog: SrfDialog, facts: AnswerFacts): JournalEntry {
    const { expected } = facts;
    const isSame = expected?.id === idOf(dialog.sip.callId, dialog.sip.localTag);
    if (expected !== undefined && isSame && dialog.type === 'uas') return expected;
    if (!isSame) expected?.forget();
    this.#calling.delete(dialog.sip.callId);
    return this.#save(openDialogOf(dialog, facts, this.#options.clock.now()));
  }

  /** Ends the orphans that this server can end; gives up on each after 32 s. */
  connected(way: ServerConnection): void {
    this.#servers.add(way);
    const calls = this.#orphans.length;
    if (calls > 0) this.#options.log.warn({ calls }, 'ending orphaned calls');
    this.#endOrphans();
  }

  /** A server is disconnected: orphans wait for it or use another. Safe to call twice. */
  lost(way: ServerConnection): void {
    this.#servers.delete(way);
  }

  #callers(invite: SrfRequest, facts: OwnSide): OpenDialog {
    const sipCallId = invite.get('call-id') ?? '';
    const remoteTarget = uriOf(invite.get('contact') ?? '');
    const openedAt = this.#options.clock.now();
    return answeredDialog(invite, { ...facts, sipCallId, remoteTarget, openedAt, invite: null });
  }

  #save(open: OpenDialog): JournalEntry {
    const saved = this.#writes.save(open);
    return {
      id: open.id,
      saved,
      forget: () => this.#forget(open),
      orphan: () => {
        this.#orphans.push(open);
        this.#endOrphans();
      },
    };
  }

  #endOrphans(): void {
    const lanes = Math.min(ENDS_AT_ONCE - this.#endsInProgress, this.#orphans.length);
    for (let count = 0; count < lanes; count += 1) void this.#endInTurn();
  }

  async #endInTurn(): Promise<void> {
    this.#endsInProgress += 1;
    for (;;) {
      const at = this.#orphans.findIndex((orphan) => this.#serverFor(orphan) !== undefined);
      const [orphan] = at < 0 ? [] : this.#orphans.splice(at, 1);
      const way = orphan && this.#serverFor(orphan);
      if (orphan === undefined || way === undefined) break;
      await this.#end(way, orphan);
    }
    this.#endsInProgress -= 1;
  }

  #serverFor({ invite }: OpenDialog): ServerConnection | undefined {
    const ways = [...this.#servers];
    return invite === null ? ways[0] : ways.find(({ name }) => name === invite.server);
  }

  async #end({ srf, endInvite }: ServerConnection, orphan: OpenDialog): Promise<void> {
    const { clock, log, findProxy = () => undefined } = this.#options;
    const { invite } = orphan;
    try {
      const ending =
        invite === null ? endAnswered(srf, orphan, findProxy) : endInvite(invite, orphan);
      await within<unknown>(clock, TRANSACTION_MS, ending);
    } catch (error) {
      // The far end's own timers end the call.
      log.warn({ why: reasonOf(error) }, 'an orphaned call could not be ended');
    }
    this.#forget(orphan);
  }

  #forget({ id }: OpenDialog): void {
    void this.#writes.remove(id);
  }
}

/** Our side of a dialog before its answer. */
interface OwnSide {
  readonly localTag: string;
  /** Identifiers as in `MediaEndpoint.channels`. */
  readonly channels: readonly string[];
  /** Charges of the carrier; unknown unless given. */
  readonly price?: CallPrice | null | undefined;
}

/** Facts of an answered dialog besides its messages. */
interface AnswerFacts extends Omit<OwnSide, 'localTag'> {
  readonly expected?: JournalEntry | undefined;
}

type Facts = OwnSide & Pick<OpenDialog, 'sipCallId' | 'remoteTarget' | 'openedAt' | 'invite'>;

/** An outgoing INVITE as sent. */
export interface SentInvite {
  readonly message: Pick<SrfMessage, 'get'>;
  readonly invite: OpenInvite;
}

/** Entry of an answered dialog, incoming or outgoing. @see RFC 3261 section 12.1 */
function openDialogOf(
  dialog: SrfDialog,
  { channels, price = null }: AnswerFacts,
  openedAt: Date,
): OpenDialog {
  const { type, sip, req, res, remote } = dialog;
  const { callId: sipCallId, localTag } = sip;
  const open = { sipCallId, remoteTarget: remote.uri, channels, openedAt, invite: null };
  if (type === 'uas') return answeredDialog(req, { ...open, price, localTag });
  return {
    ...open,
    price,
    id: idOf(sipCallId, localTag),
    localParty: req.get('from') ?? '',
    remoteParty: res.get('to') ?? '',
    peer: peerOf(res),
    routes: listOf(res.get('record-route') ?? '').reverse(),
    sequence: sequenceOf(req),
  };
}

/** Entry of the dialog that our answer to an INVITE creates. */
function answeredDialog(
  invite: Pick<SrfMessage, 'get' | keyof SrfSource>,
  facts: Facts,
): OpenDialog {
  const { localTag, price = null, ...others } = facts;
  return {
    ...others,
    price,
    id: idOf(facts.sipCallId, localTag),
    localParty: withTag(invite.get('to') ?? '', localTag),
    remoteParty: invite.get('from') ?? '',
    peer: callersPeer(invite, facts.remoteTarget),
    routes: listOf(invite.get('record-route') ?? ''),
    sequence: 0,
  };
}

/** Entry of an unanswered outgoing call. */
function callingDialog(
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
    price: null,
    peer: null,
    routes: [],
    sequence: sequenceOf(message),
    invite,
  };
}

/** Transaction of an incoming INVITE. @param server as reports name it. */
function callersInvite(request: SrfRequest, server: string): OpenInvite {
  const { stackTxnId: transactionId, raw } = request;
  return { direction: 'in', server, transactionId, head: headOf(raw), peer: sourceOf(request) };
}

function sourceOf({ protocol, source_address: address, source_port: port }: SrfSource): OpenPeer {
  return { protocol: protocol.toUpperCase(), address, port };
}

/** Null for a browser, which accepts no connections. */
function peerOf(message: SrfSource): OpenPeer | null {
  const peer = sourceOf(message);
  return peer.protocol.startsWith('WS') ? null : peer;
}

/** A caller's connection leaves from a port that it does not listen on: the one in its Contact takes its place. */
function callersPeer(invite: SrfSource, contact: string): OpenPeer | null {
  const peer = peerOf(invite);
  if (peer === null || peer.protocol === 'UDP') return peer;
  const [, port = peer.protocol === 'TLS' ? '5061' : '5060'] =
    /:(\d+)$/.exec(hostPortOfUri(contact)) ?? [];
  return { ...peer, port: Number(port) };
}

/** Start line and headers of a message, with an empty body. */
export function headOf(message: string): string {
  const [head = ''] = message.split('\r\n\r\n', 1);
  const ofBody = /^(content-length|l|content-type|c)\s*:/i;
  const lines = head.split('\r\n').filter((line) => !ofBody.test(line));
  return [...lines, 'Content-Length: 0', '', ''].join('\r\n');
}

/** Key of a dialog in the journal. */
function idOf(sipCallId: string, localTag: string): string {
  return `${sipCallId};${localTag}`;
}

/** URI of a Contact: `"Bob" <sip:bob@192.0.2.1>;expires=60`, or a bare address. */
function uriOf(contact: string): string {
  const bare = withoutQuotedText(contact);
  return /<([^>]*)>/.exec(bare)?.[1] ?? bare.split(/[;,]/, 1)[0]?.trim() ?? '';
}

/** Header with our tag, unless it has one. */
export function withTag(party: string, tag: string): string {
  return /;\s*tag=/i.test(party) ? party : `${party};tag=${tag}`;
}

/** Splits a header at commas, except within `<` and `>`. */
function listOf(header: string): string[] {
  return header.match(/[^,<]*<[^>]*>[^,]*/g)?.map((value) => value.trim()) ?? [];
}

function sequenceOf(message: Pick<SrfMessage, 'get'>): number {
  return Number.parseInt(message.get('cseq') ?? '0', 10);
}
