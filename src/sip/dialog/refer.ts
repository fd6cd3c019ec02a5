/** Blind transfer: REFER and the reports of its outcome, both ways. RFC 3515. */
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import { parseNameAddr } from '../message/name-addr.ts';
import { SipError } from '../message/sip-error.ts';
import type { ReferReport } from '../message/sipfrag.ts';
import { parseSipfrag } from '../message/sipfrag.ts';
import { reasonPhrase } from '../message/status.ts';
import type { ServerRequest } from '../server-request.ts';
import type { Dialog } from './dialog.ts';

export interface ReferOptions {
  readonly clock: Clock;
  /** How long the peer's reports are waited for; default 60,000. */
  readonly timeoutMs?: number;
  readonly onProgress?: (report: ReferReport) => void;
}

const REPORTS_MS_MAX = 60_000;

/**
 * Asks the peer to call somebody else, and follows how that goes.
 *
 * NOTIFYs that belong to it are answered here; other listeners of the dialog's `request` event leave
 * them alone, or answer them as well without harm.
 *
 * @param target URI to call.
 * @returns the final status of the peer's call, or of the REFER where that was refused; null when
 * the dialog ended or time ran out before a final report.
 */
export async function refer(
  dialog: Dialog,
  target: string,
  options: ReferOptions,
): Promise<number | null> {
  let settle: (status: number | null) => void = () => undefined;
  const outcome = new Promise<number | null>((resolve) => {
    settle = resolve;
  });
  const onRequest = (request: ServerRequest) => {
    if (!isReferNotify(request.request)) return;
    request.respond(200);
    const report = parseSipfrag(request.request.body);
    if (report !== null) options.onProgress?.(report);
    if (report !== null && report.status >= 200) settle(report.status);
    else if (isTerminated(request.request)) settle(null);
  };
  const onEnded = () => settle(null);
  const cancelTimeout = options.clock.after(options.timeoutMs ?? REPORTS_MS_MAX, onEnded);
  dialog.on('request', onRequest);
  dialog.once('ended', onEnded);
  try {
    // A report may overtake the answer to the REFER, so the listener is there before it goes out.
    const headers = {
      'Refer-To': `<${target}>`,
      'Referred-By': `<${parseNameAddr(dialog.localAddress).uri}>`,
    };
    const { status } = await dialog.request('REFER', { headers });
    return status >= 300 ? status : await outcome;
  } finally {
    cancelTimeout();
    dialog.off('request', onRequest);
    dialog.off('ended', onEnded);
  }
}

/** What a peer's REFER asks for. */
export interface ReferTarget {
  /** URI to call, without what it wants in the headers of that call. */
  readonly uri: string;
  /** The dialog to take over, as Replaces would name it; null for a blind transfer. RFC 3891. */
  readonly replaces: string | null;
  readonly referredBy: string | null;
}

/**
 * Reads a REFER.
 *
 * @throws {SipError} 400 when it has not exactly one Refer-To, or one with broken escapes.
 */
export function parseRefer(request: SipMessage): ReferTarget {
  const [value, ...others] = request.list('refer-to');
  if (value === undefined || others.length > 0) throw new SipError(400, 'Bad Refer-To');
  const [uri = '', headers = ''] = parseNameAddr(value).uri.split('?');
  const replaces = /(?:^|&)replaces=([^&]+)/i.exec(headers)?.[1];
  return {
    uri,
    replaces: replaces === undefined ? null : decoded(replaces),
    referredBy: request.get('referred-by') ?? null,
  };
}

/** The reports that an accepted REFER is owed. */
export class ReferReports {
  readonly #dialog: Dialog;
  readonly #id: number;
  #isOver = false;

  /** Accepts the REFER with 202. */
  constructor(dialog: Dialog, refer: ServerRequest) {
    this.#dialog = dialog;
    this.#id = refer.request.cseq.seq;
    refer.respond(202);
  }

  /** Reports how the call to the target goes; after a final status nothing more is sent. */
  async report(status: number, reason = reasonPhrase(status)): Promise<void> {
    if (this.#isOver || this.#dialog.state === 'ended') return;
    this.#isOver = status >= 200;
    await this.#dialog.request('NOTIFY', {
      headers: {
        Event: `refer;id=${this.#id}`,
        'Subscription-State': this.#isOver ? 'terminated;reason=noresource' : 'active;expires=60',
      },
      contentType: 'message/sipfrag;version=2.0',
      body: `SIP/2.0 ${status} ${reason}\r\n`,
    });
  }
}

function decoded(escaped: string): string {
  if (/%(?![0-9a-f]{2})|%[89a-f]/i.test(escaped)) throw new SipError(400, 'Bad Refer-To');
  return decodeURIComponent(escaped);
}

function isReferNotify(request: SipMessage): boolean {
  return request.method === 'NOTIFY' && /^refer\b/i.test(request.get('event') ?? '');
}

function isTerminated(request: SipMessage): boolean {
  return /^terminated\b/i.test(request.get('subscription-state') ?? '');
}
