/** Types of the drachtio-fsmrf API that the media gateway uses, with workarounds for its lost BYEs and errors. */
import { createRequire } from 'node:module';
import { messageOf } from '../../lib/unknown-value.ts';
import { MediaError } from '../media-gateway.ts';

/** The SIP dialog between drachtio and FreeSWITCH. `remote.sdp` is FreeSWITCH's newest description. */
export interface FsmrfDialog {
  readonly remote: { readonly sdp: string };
  /** Sends a re-INVITE. @returns FreeSWITCH's description. @throws {Error} when it refuses. */
  modify(sdp: string): Promise<string>;
  /** Sends BYE. */
  destroy(): Promise<unknown>;
  /** How many re-INVITEs are out; left standing when one is refused, and then no other goes out. */
  _reinvitesInProgress?: { count: number; admitOne: unknown[] };
}

/** One leg inside FreeSWITCH. */
export interface FsmrfEndpoint {
  readonly uuid: string;
  readonly dialog: FsmrfDialog;
  readonly connected: boolean;
  /** @throws {Error} when FreeSWITCH refuses; never settles when the connection is lost meanwhile. */
  bridge(other: FsmrfEndpoint): Promise<void>;
  /** Resolves at FreeSWITCH's BYE; never when the connection is lost meanwhile. */
  destroy(): Promise<void>;
  /** FreeSWITCH has ended the leg, or is disconnected. */
  on(event: 'destroy', listener: () => void): void;
}

/** One SIP profile of one FreeSWITCH. */
export interface FsmrfServer {
  /** SIP client that sends INVITEs to FreeSWITCH. */
  readonly srf: LegSip;
  readonly conn: {
    removeAllListeners(event: string): void;
    on(event: string, listener: () => void): void;
  };
  createEndpoint(options: { readonly remoteSdp: string }): Promise<FsmrfEndpoint>;
  disconnect(): void;
}

interface FsmrfConnectOptions {
  readonly address: string;
  readonly port: number;
  readonly secret: string;
  /** Address that FreeSWITCH connects back to, for each leg. */
  readonly listenAddress: string;
  readonly profile: string;
}

interface Fsmrf {
  connect(options: FsmrfConnectOptions): Promise<FsmrfServer>;
}

const Mrf = createRequire(import.meta.url)('drachtio-fsmrf') as new (srf: object) => Fsmrf;

/**
 * Connects to one profile of a healthy server: for any other the library throws outside any promise, or retries
 * without end.
 *
 * @param srf drachtio-srf's client: SIP to the server goes through its drachtio.
 * @throws {Error} when it is not ready within a second.
 */
export async function connectProfile(
  srf: object,
  options: FsmrfConnectOptions & { readonly onEnd: () => void },
): Promise<FsmrfServer> {
  const { onEnd, ...address } = options;
  const server = await new Mrf(srf).connect(address);
  // Replaces the library's own listeners, which print to the console and reconnect in a way that loses later replies.
  for (const event of ['esl::end', 'esl::ready']) server.conn.removeAllListeners(event);
  server.conn.on('esl::end', onEnd);
  return server;
}

/**
 * Creates a leg from the far end's SDP.
 *
 * @throws {LegEndedError} when FreeSWITCH answers and ends the leg at once, which the library does not notice.
 * @throws {Error} when FreeSWITCH refuses; never settles when the connection is lost meanwhile.
 */
export function createLeg(server: FsmrfServer, remoteSdp: string): Promise<FsmrfEndpoint> {
  // The library takes every SAVP for DTLS, which it cannot do here. SRTP with keys in the description is none, and the
  // names of protocols may be written in small letters. RFC 4568.
  const sdp = remoteSdp.replace(/^(m=audio \S+ \S*)SAVP/gm, '$1savp');
  const { srf, ended } = watchedClient(server.srf);
  const own: FsmrfServer = Object.create(server, { srf: { value: srf } });
  return Promise.race([own.createEndpoint({ remoteSdp: sdp }), ended]);
}

/** Re-negotiates a leg. @throws {Error} when FreeSWITCH refuses. */
export async function modify(endpoint: FsmrfEndpoint, sdp: string): Promise<string> {
  const { dialog } = endpoint;
  try {
    return await dialog.modify(sdp);
  } catch (error) {
    if (dialog._reinvitesInProgress !== undefined) dialog._reinvitesInProgress.count = 0;
    throw error;
  }
}

/** FreeSWITCH's BYE. */
interface Bye {
  get(header: string): string | undefined;
}

/** A dialog as drachtio-srf makes it. */
export interface LegDialog {
  on(event: 'destroy', listener: (bye: Bye) => void): void;
  destroy(): Promise<unknown>;
}

/** The one method of drachtio-srf's client that legs are made with. */
export interface LegSip {
  createUAC(
    uri: string,
    options: object,
    progress: object,
    callback: (error: unknown, dialog?: LegDialog) => void,
  ): void;
}

/** The same as drachtio-fsmrf calls it. */
export interface WatchedSip {
  createUAC(uri: string, options: object): Promise<LegDialog>;
}

/** FreeSWITCH answered, and took the leg back before it could be used. */
export class LegEndedError extends Error {
  override readonly name = 'LegEndedError';
}

/**
 * Wraps the client for one leg.
 *
 * @returns `ended` rejects with {@link LegEndedError} at FreeSWITCH's BYE, and never resolves. It belongs into a race.
 */
export function watchedClient(client: LegSip): {
  readonly srf: WatchedSip;
  readonly ended: Promise<never>;
} {
  const ending = Promise.withResolvers<never>();
  const createUAC = (uri: string, options: object) =>
    new Promise<LegDialog>((resolve, reject) => {
      // By callback: a BYE in the same packet as the answer arrives before a promise settles.
      client.createUAC(uri, options, {}, (error, dialog) => {
        if (dialog === undefined) return reject(error);
        endQuietly(dialog);
        dialog.on('destroy', (bye) => ending.reject(endedBy(bye)));
        resolve(dialog);
      });
    });
  return { srf: { createUAC }, ended: ending.promise };
}

/** The library destroys abandoned dialogs without awaiting; the dialog may be over by then. */
function endQuietly(dialog: LegDialog): void {
  const end = dialog.destroy.bind(dialog);
  let isOver = false;
  dialog.on('destroy', () => {
    isOver = true;
  });
  dialog.destroy = async () => {
    if (!isOver) await end().catch(() => undefined);
  };
}

function endedBy(bye: Bye): LegEndedError {
  const reason = bye.get('Reason') ?? 'no reason given';
  return new LegEndedError(`it answered, and ended the leg at once (${reason})`);
}

/** FreeSWITCH's refusal as the port's own error. */
export function mediaErrorOf(cause: unknown): MediaError {
  const status = statusOf(cause);
  const why = messageOf(cause);
  const sipStatus = status === 488 || status === 415 ? 488 : 503;
  return new MediaError(`Cannot set up sound in FreeSWITCH: ${why}`, sipStatus, { cause });
}

/** SIP status of a drachtio-srf error; 0 without one. */
export function statusOf(error: unknown): number {
  const hasStatus = typeof error === 'object' && error !== null && 'status' in error;
  return hasStatus && typeof error.status === 'number' ? error.status : 0;
}
