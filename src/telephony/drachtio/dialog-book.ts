/** Keeps on disk what is needed to end each answered call, and ends those that a process before this one has left. */
import type { DialogStore, OpenDialog } from '../../domain/open-dialog.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { TRANSACTION_MS, within } from '../limit.ts';
import type { SrfClient, SrfDialog, SrfRequest, SrfSentRequest } from './srf.ts';
import { reasonOf } from './srf.ts';

/** Room for the requests of the old process that nobody wrote down. RFC 3261, 12.2.2 asks for a greater number only. */
const SEQUENCE_STEP = 1_000;

/** So many BYEs are on their way at a time: a server that comes back shall take new calls too. */
const BYES_AT_ONCE = 20;

export interface DialogBookOptions {
  readonly store: DialogStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Our side of a dialog that is about to begin. */
export interface OwnSide {
  readonly localTag: string;
  /** As `MediaEndpoint.channels`. */
  readonly channels: readonly string[];
}

/** What becomes of a dialog that was written down. */
export interface KeptDialog {
  readonly id: string;
  /** The far end knows that the call is over. Safe to call twice. */
  forget(): void;
  /** The call is over for us alone: the far end is told by BYE as soon as some server is there. */
  orphan(): void;
}

/** One for all connections to SIP servers. Made before the first call, for what it finds then are orphans. */
export class DialogBook {
  readonly #options: DialogBookOptions;
  /** Calls of nobody, whose far ends are still to be told. */
  readonly #orphans: OpenDialog[];
  /** Connections to servers, any of which can say BYE. */
  readonly #ways = new Set<SrfClient>();
  #lanes = 0;

  /** @throws {StoreError} when the database cannot be read. */
  constructor(options: DialogBookOptions) {
    this.#options = options;
    this.#orphans = [...options.store.all()];
  }

  /** Legs on media servers that nobody owns any more. */
  get orphanChannels(): readonly string[] {
    return this.#orphans.flatMap(({ channels }) => channels);
  }

  /** Writes the dialog down that our 200 will begin, so that there is no moment in which only the far end knows of it. */
  expect(invite: SrfRequest, facts: OwnSide): KeptDialog {
    const sipCallId = invite.get('call-id') ?? '';
    const remoteTarget = uriOf(invite.get('contact') ?? '');
    const openedAt = this.#options.clock.now();
    return this.#save(answeredDialog(invite, { ...facts, sipCallId, remoteTarget, openedAt }));
  }

  /** Writes a dialog down. @param expected what was written of it before; a server may have chosen another tag. */
  keep(dialog: SrfDialog, channels: readonly string[], expected?: KeptDialog): KeptDialog {
    if (expected?.id === idOf(dialog.sip.callId, dialog.sip.localTag)) return expected;
    expected?.forget();
    return this.#save(openDialogOf(dialog, channels, this.#options.clock.now()));
  }

  #save(open: OpenDialog): KeptDialog {
    const { store } = this.#options;
    this.#try('could not write a call down', () => store.save(open));
    return {
      id: open.id,
      forget: () => this.#try('could not forget a call', () => store.remove(open.id)),
      orphan: () => {
        this.#orphans.push(open);
        this.#endOrphans();
      },
    };
  }

  /** A server is there: says BYE for every orphan, each until it is answered, or nobody has for 32 s. */
  connected(srf: SrfClient): void {
    this.#ways.add(srf);
    const calls = this.#orphans.length;
    if (calls > 0) this.#options.log.warn({ calls }, 'ending calls that nobody holds');
    this.#endOrphans();
  }

  /** A server is not there any more: orphans wait for it, or go by way of another. Safe to call twice. */
  lost(srf: SrfClient): void {
    this.#ways.delete(srf);
  }

  #endOrphans(): void {
    if (this.#ways.size === 0) return;
    const lanes = Math.min(BYES_AT_ONCE - this.#lanes, this.#orphans.length);
    for (let count = 0; count < lanes; count += 1) void this.#endInTurn();
  }

  async #endInTurn(): Promise<void> {
    this.#lanes += 1;
    for (;;) {
      const [way] = this.#ways;
      const orphan = way === undefined ? undefined : this.#orphans.shift();
      if (way === undefined || orphan === undefined) break;
      await this.#end(way, orphan);
    }
    this.#lanes -= 1;
  }

  async #end(srf: SrfClient, orphan: OpenDialog): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      await within(clock, TRANSACTION_MS, sayBye(srf, orphan));
    } catch (error) {
      // Nobody there to be told: the far end has its own ways to notice.
      log.warn({ why: reasonOf(error) }, 'nobody answered BYE for a call that nobody holds');
    }
    this.#try('could not forget a call', () => store.remove(orphan.id));
  }

  /** A call goes on when the disk fails. */
  #try(failure: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.log.error({ err: error }, failure);
    }
  }
}

/** Resolves with the status of whatever final response comes. */
function sayBye(srf: SrfClient, orphan: OpenDialog): Promise<number> {
  const headers: Record<string, string> = {
    'Call-ID': orphan.sipCallId,
    From: orphan.localParty,
    To: orphan.remoteParty,
    CSeq: `${orphan.sequence + SEQUENCE_STEP} BYE`,
    Reason: 'SIP;cause=503;text="the server was restarted"',
  };
  if (orphan.routes.length > 0) headers.Route = orphan.routes.join(', ');
  return new Promise((resolve, reject) => {
    srf.request(
      orphan.remoteTarget,
      { method: 'BYE', headers },
      (error, request?: SrfSentRequest) => {
        if (request === undefined) reject(new Error(reasonOf(error)));
        else request.on('response', ({ status }) => status >= 200 && resolve(status));
      },
    );
  });
}

/** What the dialog is to us, whoever began it. @see RFC 3261 section 12.1 */
function openDialogOf(dialog: SrfDialog, channels: readonly string[], openedAt: Date): OpenDialog {
  const { type, sip, req, res, remote } = dialog;
  const { callId: sipCallId, localTag } = sip;
  const facts = { sipCallId, remoteTarget: remote.uri, channels, openedAt };
  if (type === 'uas') return answeredDialog(req, { ...facts, localTag });
  return {
    ...facts,
    id: idOf(sipCallId, localTag),
    localParty: req.get('from') ?? '',
    remoteParty: res.get('to') ?? '',
    routes: listOf(res.get('record-route') ?? '').reverse(),
    sequence: Number.parseInt(req.get('cseq') ?? '0', 10),
  };
}

type Facts = OwnSide & Pick<OpenDialog, 'sipCallId' | 'remoteTarget' | 'openedAt'>;

/** The dialog that our answer to an INVITE begins. */
function answeredDialog(invite: SrfDialog['req'], { localTag, ...facts }: Facts): OpenDialog {
  return {
    ...facts,
    id: idOf(facts.sipCallId, localTag),
    localParty: withTag(invite.get('to') ?? '', localTag),
    remoteParty: invite.get('from') ?? '',
    routes: listOf(invite.get('record-route') ?? ''),
    sequence: 0,
  };
}

function idOf(sipCallId: string, localTag: string): string {
  return `${sipCallId};${localTag}`;
}

/** Of a Contact: `"Bob" <sip:bob@192.0.2.1>;expires=60`, or a bare address. */
function uriOf(contact: string): string {
  const bare = contact.replace(/"(?:[^"\\]|\\.)*"/g, '');
  return /<([^>]*)>/.exec(bare)?.[1] ?? bare.split(/[;,]/, 1)[0]?.trim() ?? '';
}

/** The header with our tag, where it has none. */
export function withTag(party: string, tag: string): string {
  return /;\s*tag=/i.test(party) ? party : `${party};tag=${tag}`;
}

/** Commas within `<` and `>` separate nothing. */
function listOf(header: string): string[] {
  return header.match(/[^,<]*<[^>]*>[^,]*/g)?.map((value) => value.trim()) ?? [];
}
