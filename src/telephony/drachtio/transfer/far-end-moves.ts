/** Moves of one leg's far end to another party, as its trunk accepts them: by REFER (Refer-To), or by INVITE with Replaces. */
import type { Logger } from '../../../lib/logger.ts';
import { isDialable, numberOfUri, withoutQuotedText } from '../../call-headers.ts';
import { CarrierError, type IncomingRefer } from '../../carrier.ts';
import type { MediaEndpoint } from '../../media-gateway.ts';
import { hostOfUri, isOn, sourcesOf } from '../../trunks/trunk-table.ts';
import { domainOf, type Trunk } from '../../trunks/trunks.ts';
import { reasonOf, type SrfAnswer, type SrfRequest } from '../carrier/srf.ts';
import type { DialogPeer } from '../leg/in-dialog-request.ts';
import {
  type CallInPlace,
  refuseRefer,
  SrfIncomingRefer,
  type Successor,
} from './incoming-refer.ts';

/** Moves of one call: each leaves a leg and keys behind. People transfer a call a few times. */
const MOVES_MAX = 16;

/** Parts that a leg gets from a trunk that accepts transfers. */
export interface AcceptedTransfers {
  readonly trunk: Trunk;
  readonly callInPlace: CallInPlace;
}

/** Methods of the leg. */
interface MovedLeg {
  /** Whether the leg is over, about to be, or has another far end already. */
  isEnding(): boolean;
  /** Whether a third party is called or connected, or a session description is under negotiation. */
  isBusy(): boolean;
  /** Whether its dialog is over. */
  isOver(): boolean;
  moved(next: Successor, method: 'refer' | 'replaces'): void;
  /** Ends its own dialog, which another one has replaced. */
  leave(): void;
}

interface MovesOptions {
  readonly accepted: AcceptedTransfers | undefined;
  readonly peer: DialogPeer;
  readonly endpoint: MediaEndpoint;
  readonly log: Logger;
  readonly leg: MovedLeg;
}

/** One move at a time. */
export class FarEndMoves {
  readonly #options: MovesOptions;
  #refer: SrfIncomingRefer | undefined;
  #hadRefer = false;
  /** Moves of the call before this leg. */
  made = 0;
  #replacing: { isStopped: boolean; readonly settled: PromiseWithResolvers<void> } | undefined;
  #onRefer: ((refer: IncomingRefer) => void) | undefined;

  constructor(options: MovesOptions) {
    this.#options = options;
  }

  /** Whether a move is asked for or in progress. */
  get isPending(): boolean {
    return this.#replacing !== undefined || this.#refer?.isPending === true;
  }

  /** Whether the call was moved too often to be moved again. */
  get areUsedUp(): boolean {
    return this.made >= MOVES_MAX;
  }

  /** Resolves with the outcome of the move in progress; undefined without one. */
  get settled(): Promise<void> | undefined {
    return (
      this.#replacing?.settled.promise ?? (this.#refer?.isPending ? this.#refer.settled : undefined)
    );
  }

  onRefer(listener: (refer: IncomingRefer) => void): void {
    this.#onRefer = listener;
  }

  /** Handles a REFER. A trunk that accepts no transfers refuses each with 603: it could make us pay for any call. */
  takeRefer(request: SrfRequest, answer: SrfAnswer): void {
    const { accepted, leg, log, ...others } = this.#options;
    const status = this.#refusal;
    if (accepted === undefined || status !== undefined) {
      answer.send(status ?? 603);
      return;
    }
    const target = targetOf(request, accepted.trunk);
    if (target.kind === 'refused') {
      const { sipStatus, why } = target;
      refuseRefer(answer, sipStatus, why);
      log.info({ trunk: accepted.trunk.name, sipStatus, why }, 'refused a REFER of the far end');
      return;
    }
    this.#refer = new SrfIncomingRefer({
      ...others,
      ...{ request, answer, log, number: target.number, isFurther: this.#hadRefer },
      callInPlace: accepted.callInPlace,
      onMoved: (next) => leg.moved(next, 'refer'),
      onTold: () => leg.leave(),
      isOver: () => leg.isOver(),
    });
    this.#hadRefer = true;
    this.passRefer(this.#refer);
  }

  /** Status that refuses every REFER now; undefined to read Refer-To. */
  get #refusal(): number | undefined {
    const { accepted, leg } = this.#options;
    if (accepted === undefined || this.#onRefer === undefined || this.areUsedUp) return 603;
    if (leg.isEnding()) return 481;
    // Two at once, or one that crosses a change of ours.
    return this.isPending || leg.isBusy() ? 491 : undefined;
  }

  /** Passes on a REFER of the party that has taken the far end's place. */
  passRefer(refer: IncomingRefer): void {
    if (this.#onRefer === undefined) refer.refuse(603, 'nothing can follow it');
    else this.#onRefer(refer);
  }

  /** Whether the trunk lets the source replace the far end. */
  mayReplace(source: string): boolean {
    const { accepted } = this.#options;
    return accepted !== undefined && isOn(sourcesOf(accepted.trunk), source);
  }

  /**
   * Replaces the far end by another party. The leg's `replacementRefusal` says whether that is possible.
   *
   * @param answerNext answers its INVITE on the leg's endpoint.
   * @throws {Error} when that failed: the leg goes on as it was, unless the far end has left.
   */
  async replace(answerNext: () => Promise<Successor>): Promise<void> {
    const { endpoint, leg } = this.#options;
    const replacing = { isStopped: false, settled: Promise.withResolvers<void>() };
    this.#replacing = replacing;
    const restore = endpoint.prepareMove();
    try {
      const next = await answerNext();
      if (replacing.isStopped) {
        void next.hangUp();
        throw new CarrierError('Cannot replace the far end: the call is over', 487);
      }
      leg.moved(next, 'replaces');
    } catch (error) {
      if (!replacing.isStopped) await this.#restore(restore);
      throw error;
    } finally {
      this.#replacing = undefined;
      replacing.settled.resolve();
    }
    leg.leave();
  }

  /** Gives up: the leg ends. Safe to call twice. */
  stop(): void {
    this.#refer?.stop();
    if (this.#replacing === undefined) return;
    this.#replacing.isStopped = true;
    this.#replacing.settled.resolve();
  }

  async #restore(restore: () => Promise<void>): Promise<void> {
    try {
      await restore();
    } catch (error) {
      const why = reasonOf(error);
      this.#options.log.warn({ why }, 'could not go on with the far end that was to be replaced');
    }
  }
}

/** A request inside a dialog may come from any address, and this one costs money: it must come from the trunk's. */
function targetOf(request: SrfRequest, trunk: Trunk): ReferTarget {
  if (!isOn(sourcesOf(trunk), request.source_address)) {
    return {
      kind: 'refused',
      sipStatus: 403,
      why: 'it does not come from an address of the trunk',
    };
  }
  return readReferTo(request.get('refer-to') ?? request.get('r'), rulesOf(trunk, request));
}

/** The far end may name its trunk's domain, proxy and addresses, where it sends from, and us. The call goes by the trunk. */
function rulesOf(trunk: Trunk, { source_address, uri }: SrfRequest): ReferRules {
  const names = [domainOf(trunk), trunk.proxy.host, source_address, hostOfUri(uri)];
  const known = new Set(names.map((name) => name.replace(/^\[|\]$/g, '').toLowerCase()));
  return {
    isSips: trunk.proxy.isSips,
    isKnownHost: (host) => known.has(host) || isOn(sourcesOf(trunk), host),
  };
}

/** Longer values are refused unread. */
const CHARS_MAX = 512;

/** Rules of a trunk for the target of a REFER. */
interface ReferRules {
  /** Whether calls of the trunk are `sips`. */
  readonly isSips: boolean;
  /** Whether the host, in lower case and without brackets, is one of the trunk's. */
  readonly isKnownHost: (host: string) => boolean;
}

/** The number as it was written, or the refusal with its status and reason; the reason quotes no part of the request. */
type ReferTarget = { readonly kind: 'number'; readonly number: string } | ReferRefusal;

/** Why a REFER is refused. */
interface ReferRefusal {
  readonly kind: 'refused';
  readonly sipStatus: number;
  readonly why: string;
}

/**
 * Reads Refer-To.
 *
 * Whether the number may be called is the dial policy's to decide.
 *
 * @param header lines of several headers are joined with commas; undefined without one.
 * @see RFC 3515 section 2.1
 */
export function readReferTo(header: string | undefined, rules: ReferRules): ReferTarget {
  if (header === undefined || header.trim() === '') return refused(400, 'it has no Refer-To');
  if (header.length > CHARS_MAX) return refused(414, 'its Refer-To is too long');
  const uri = uriOf(header);
  return uri === undefined
    ? refused(400, 'its Refer-To is not one address')
    : referTargetOf(uri, rules);
}

/** The one URI of the header; undefined without one, and for several. RFC 3261, 20: `,`, `?` and `;` need `<>`. */
function uriOf(header: string): string | undefined {
  const text = withoutQuotedText(header).trim();
  if (!/^[\x20-\x7e]*$/.test(text)) return undefined;
  const [, bracketed] = /^[^<>,;:"@]*<([^<>"\s]+)>\s*(?:;[^<>,"]*)?$/.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed;
  const [, bare] = /^([^\s<>,;?"]+)\s*(?:;[^<>,"]*)?$/.exec(text) ?? [];
  return bare;
}

function referTargetOf(uri: string, { isSips, isKnownHost }: ReferRules): ReferTarget {
  const [, scheme, rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):(.+)$/.exec(uri) ?? [];
  if (scheme === undefined) return refused(400, 'its Refer-To is not one address');
  const isPlain = scheme.toLowerCase() === 'sip';
  if (!isPlain && !(isSips && scheme.toLowerCase() === 'sips')) {
    return refused(416, `${isSips ? 'a sip or sips' : 'a sip'} address is expected`);
  }
  const [address = '', headers] = rest.split('?', 2);
  if (headers !== undefined && /(?:^|&)replaces=/i.test(headers)) {
    return refused(501, 'a call cannot replace another one by REFER');
  }
  if (headers !== undefined) return refused(400, 'its Refer-To has headers');
  const [, method] = /@.*;method=([^;]*)/i.exec(address) ?? [];
  if (method !== undefined && method.toUpperCase() !== 'INVITE') {
    return refused(501, 'only calls can be referred to');
  }
  return numberAt(`sip:${address}`, isKnownHost);
}

function numberAt(uri: string, isKnownHost: ReferRules['isKnownHost']): ReferTarget {
  const [user, ...hosts] = uri.slice('sip:'.length).split('@');
  if (user === undefined || hosts.length !== 1) return refused(400, 'its address has no number');
  if (user.includes(':')) return refused(400, 'its address has a password');
  if (!isKnownHost(hostOfUri(uri))) return refused(403, 'its domain is not one of the trunk');
  const number = numberOfUri(uri);
  if (!isDialable(number)) return refused(484, 'its address is not a number');
  return { kind: 'number', number };
}

function refused(sipStatus: number, why: string): ReferRefusal {
  return { kind: 'refused', sipStatus, why };
}
