/** Probes whether SIP reaches a profile of FreeSWITCH, and is accepted there, on the path of calls. */
import { randomUUID } from 'node:crypto';
import { type Clock, OverdueError, within } from '../../lib/clock.ts';
import { hasCode, messageOf } from '../../lib/unknown-value.ts';
import { type LegDialog, statusOf } from './fsmrf.ts';

/** A healthy FreeSWITCH answers within milliseconds. */
const ANSWER_MS_MAX = 2_000;

/** No extension of the dialplan takes this user agent, so FreeSWITCH refuses after its ACL, and makes no leg. */
const USER_AGENT = 'offhook-probe';

/** The part of drachtio-srf's client that a probe needs. */
export interface SipClient {
  /** The SIP server is connected, or the attempt has failed. */
  on(event: 'connect', listener: (error: unknown) => void): void;
  createUAC(
    uri: string,
    options: object,
    progress: object,
    callback: (error: unknown, dialog?: object) => void,
  ): void;
}

/** `unknown`: the SIP server is not connected, or does not send. */
export type ProbeResult =
  | { readonly kind: 'open' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'closed'; readonly problem: string };

/**
 * Sends an INVITE that FreeSWITCH refuses by its dialplan.
 *
 * @param sip drachtio-srf's client.
 * @param uri of the profile, such as `sip:mod_sofia@127.0.0.1:5280`.
 */
export async function probeSip(sip: SipClient, uri: string, clock: Clock): Promise<ProbeResult> {
  let isSent = false;
  const answered = new Promise<ProbeResult>((resolve) => {
    const options = { headers: { 'Call-ID': randomUUID(), 'User-Agent': USER_AGENT } };
    const progress = {
      cbRequest: (error: unknown) => {
        isSent = !error;
      },
    };
    sip.createUAC(uri, options, progress, (error, dialog) => resolve(resultOf(error, dialog)));
  });
  try {
    return await within(clock, ANSWER_MS_MAX, answered);
  } catch (error) {
    // Without a connection to the SIP server, drachtio-srf throws.
    if (!(error instanceof OverdueError) || !isSent) return { kind: 'unknown' };
    return closed(`it does not answer SIP at ${uri.replace(/^sip:(?:[^@]*@)?/, '')}`);
  }
}

function resultOf(error: unknown, dialog: object | undefined): ProbeResult {
  if (dialog !== undefined) {
    // Another dialplan than ours took it. A leg that is over already needs no BYE.
    (dialog as LegDialog).destroy().catch(() => undefined);
    return { kind: 'open' };
  }
  const status = statusOf(error);
  if (status === 403) {
    return closed(
      'it refuses our SIP with 403: the address that SIP is sent from has to be in FREESWITCH_TRUSTED; ' +
        "it is that of drachtio-server's contact, or SIP_HOST",
    );
  }
  if (status === 408 || status === 503) return closed(`it does not answer SIP (${status})`);
  if (status > 0) return { kind: 'open' };
  if (hasCode(error, 'ESOCKETDESTROYED')) return { kind: 'unknown' };
  return closed(`SIP cannot be sent to it: ${messageOf(error)}`);
}

function closed(problem: string): ProbeResult {
  return { kind: 'closed', problem };
}
