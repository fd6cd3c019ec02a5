/** Orphaned calls: ends calls of an earlier process, and decides about calls whose SIP server was lost. */
import type { OpenDialog, OpenInvite, OpenPeer } from '../../../domain/call/open-dialog.ts';
import type { Clock } from '../../../lib/clock.ts';
import { rangeOfAddress, urlHost } from '../../../lib/local-routes.ts';
import type { ReleaseCause } from '../../carrier.ts';
import { hostOfUri } from '../../trunks/trunk-table.ts';
import { answerOrphan, reasonOf, type SrfClient, sendOver } from './srf.ts';

/**
 * Leaves room for requests of the old process that were not saved, of which a REFER or re-INVITE is usual. A dialog's own
 * numbers begin anywhere: in the embedded engine below 2^17, at drachtio-server below 2^27. RFC 3261, 12.2.2 asks for a
 * greater number only, and 8.1.1.5 for one below 2^31.
 */
const SEQUENCE_STEP = 1_000_000_000;

/** Wait for a 2xx that crosses a CANCEL. */
const CROSSING_MS = 2_000;

const RETRY_AFTER_SECONDS = 5;

/** drachtio-server puts in the target of the dialog or transaction. */
const ITS_TARGET = 'sip:placeholder';

/**
 * Cancels an outgoing INVITE, or refuses an incoming one, that has no final response.
 *
 * @throws {Error} when the server refuses, or cannot be reached.
 */
export type EndInvite = (invite: OpenInvite, call: OpenDialog) => Promise<void>;

/** Ends INVITEs through a drachtio-server, which accepts a transaction identifier from any connection. */
export function invitesOver(srf: SrfClient, clock: Clock): EndInvite {
  return async (invite, call) => {
    if (invite.direction === 'out') await cancel(srf, clock, invite, call);
    else {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      await answerOrphan(srf, invite, { status: 503, headers });
    }
  };
}

/** URI of another way to a next hop that cannot be reached; undefined where there is none. */
export type FindProxy = (nextHop: string) => string | undefined;

/**
 * Ends an answered call by BYE, which goes by the ways of `waysTo` until one is in reach.
 *
 * @throws {Error} when the server refuses, or cannot be reached.
 */
export async function endAnswered(
  srf: SrfClient,
  call: OpenDialog,
  findProxy: FindProxy,
): Promise<void> {
  const ways = waysTo(call, findProxy);
  for (const [at, way] of ways.entries()) {
    const status = await sendBye(srf, call, way).catch((error: unknown) => {
      if (at === ways.length - 1) throw error;
      return OUT_OF_REACH;
    });
    if (status !== OUT_OF_REACH) return;
  }
}

/** Way of one request. */
interface Way {
  /** URI of the next hop; default: by Route and Request-URI. */
  readonly proxy?: string;
}

/**
 * Ways to the far end, in order.
 *
 * The proxy of its trunk comes after its own address: over TLS, a process that has not connected to the carrier before
 * cannot verify a bare IP address. The address that its messages came from is the last: peers give a Contact with a name
 * that they alone know, or with a transport that they do not listen on. It is the first for a Contact with a private
 * address that is not theirs: such a BYE is sent without an error, and lost.
 */
function waysTo(call: OpenDialog, findProxy: FindProxy): readonly Way[] {
  const { peer, remoteTarget, routes } = call;
  const [nextHop = remoteTarget] = routes;
  const trunkProxy = findProxy(nextHop);
  const ways: readonly Way[] = [{}, ...(trunkProxy === undefined ? [] : [{ proxy: trunkProxy }])];
  // A sips URI demands TLS all the way.
  if (peer === null || /^<?sips:/i.test(nextHop)) return ways;
  const last = { proxy: uriOfPeer(peer) };
  const host = hostOfUri(remoteTarget);
  const isHidden =
    routes.length === 0 && rangeOfAddress(host) === 'private' && host !== peer.address;
  return isHidden ? [last, ...ways] : [...ways, last];
}

function uriOfPeer({ protocol, address, port }: OpenPeer): string {
  return `sip:${urlHost(address)}:${port};transport=${protocol.toLowerCase()}`;
}

/** The SIP server's own answer when it cannot send. */
const OUT_OF_REACH = 503;

/** Sends BYE. Resolves with the status of the final response. */
async function sendBye(srf: SrfClient, call: OpenDialog, way: Way): Promise<number> {
  const headers: Record<string, string> = {
    'Call-ID': call.sipCallId,
    From: call.localParty,
    To: call.remoteParty,
    CSeq: `${call.sequence + SEQUENCE_STEP} BYE`,
    Reason: 'SIP;cause=503;text="the server was restarted"',
  };
  if (call.routes.length > 0) headers.Route = call.routes.join(', ');
  const { answered } = await sendOver(srf, call.remoteTarget, { method: 'BYE', headers, ...way });
  return (await answered).status;
}

/** Cancels an outgoing call; one that was answered meanwhile gets ACK and BYE. */
async function cancel(
  srf: SrfClient,
  clock: Clock,
  { transactionId: stackTxnId }: OpenInvite,
  call: OpenDialog,
): Promise<void> {
  const stackDialogId = dialogIdOf(call);
  try {
    await sendOver(srf, ITS_TARGET, { method: 'CANCEL', stackTxnId });
    await new Promise<void>((resolve) => clock.after(CROSSING_MS, resolve));
  } catch (error) {
    // The transaction ended with a refusal.
    if (/unknown transaction|transaction not found/.test(reasonOf(error))) return;
    await sendOver(srf, ITS_TARGET, { method: 'ACK', stackDialogId });
  }
  await sendOver(srf, ITS_TARGET, { method: 'BYE', stackDialogId }).catch((error: unknown) => {
    // Without an answer the dialog does not exist.
    if (!/unable to find dialog/.test(reasonOf(error))) throw error;
  });
}

/** Name that drachtio-server gives to the dialog of an outgoing call. */
function dialogIdOf({ sipCallId, localParty }: OpenDialog): string {
  const [, tag = ''] = /;\s*tag=([^;\s]+)/i.exec(localParty) ?? [];
  return `${sipCallId};from-tag=${tag}`;
}

/** How long a server may be away. Calls that wait longer are over, so that none of them is left after 10 s. */
const PATIENCE_MS = 5_000;

/** Check interval: a server does not report the end of earlier connections' calls to a new one. */
const CHECK_EVERY_MS = 5_000;

/** Limit of checks at a time, so that a server that comes back can take new calls. */
const CHECKS_AT_ONCE = 20;

/** An answered call. */
export interface OrphanedLeg {
  readonly isOver: boolean;
  /** No events arrive until `isGone` has been asked. */
  orphan(): void;
  /** Whether the server or the far end has lost the call. Settles within seconds, and never rejects. */
  isGone(): Promise<boolean>;
  /** Ends the call without the server. Safe to call twice. */
  abandon(cause: ReleaseCause): void;
}

/** Legs whose SIP server was lost: asks after reconnecting whether each still exists. */
export class OrphanedLegs {
  readonly #clock: Clock;
  #legs = new Set<OrphanedLeg>();
  /** Counts losses and returns: answers of an earlier round are ignored. */
  #round = 0;
  #cancelTimer: () => void = () => {};

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** The connection is lost: its calls wait a while. */
  lost(legs: Iterable<OrphanedLeg>): void {
    this.stop();
    this.#legs = new Set(legs);
    for (const leg of this.#legs) leg.orphan();
    this.#wait(PATIENCE_MS, () => {
      this.#abandon([...this.#legs], {
        kind: 'broken',
        reason: 'the SIP server is out of reach',
      });
    });
  }

  /** The server is back: checks its calls now, and every 5 s until they end. */
  connected(): void {
    this.stop();
    void this.#check(this.#round, { kind: 'broken', reason: 'the SIP server has lost the call' });
  }

  /** Lets the calls be. Safe to call twice. */
  stop(): void {
    this.#round += 1;
    this.#cancelTimer();
  }

  #wait(delayMs: number, work: () => void): void {
    for (const leg of this.#legs) if (leg.isOver) this.#legs.delete(leg);
    if (this.#legs.size > 0) this.#cancelTimer = this.#clock.after(delayMs, work);
  }

  async #check(round: number, causeOfLoss: ReleaseCause): Promise<void> {
    const waiting = [...this.#legs];
    const lane = async () => {
      for (let leg = waiting.shift(); leg !== undefined; leg = waiting.shift()) {
        const isGone = !leg.isOver && (await leg.isGone());
        if (round !== this.#round) return;
        if (isGone) this.#abandon([leg], causeOfLoss);
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, lane));
    if (round !== this.#round) return;
    // A call that was there at an earlier check has ended by the far end's BYE.
    this.#wait(CHECK_EVERY_MS, () => void this.#check(round, { kind: 'far-end' }));
  }

  #abandon(legs: readonly OrphanedLeg[], cause: ReleaseCause): void {
    for (const leg of legs) {
      this.#legs.delete(leg);
      leg.abandon(cause);
    }
  }
}
