/** Types of the drachtio-srf API that call control uses, as the library behaves. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import Srf from 'drachtio-srf';

/** Source of a received message. */
export interface SrfSource {
  /** IP address. */
  readonly source_address: string;
  readonly source_port: number;
  /** `udp`, `tcp` and the like. */
  readonly protocol: string;
}

/** A received SIP message. */
export interface SrfMessage extends SrfSource {
  /** Lines of the same header are joined with commas. */
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Empty without a body. */
  readonly body: string | undefined;
  /** Parts of a multipart body; else the body alone. */
  readonly payload: readonly { readonly type?: string | null; readonly content?: string }[];
  /** The whole message as received. */
  readonly raw: string;
}

/** A received request. */
export interface SrfRequest extends SrfMessage {
  readonly method: string;
  readonly uri: string;
  /** Server's name of the transaction. */
  readonly stackTxnId: string;
  /** `application` when the server itself ended the dialog, for want of an ACK or a session refresh. */
  readonly source: 'network' | 'application';
  /** False for an INVITE that has a To tag. */
  readonly isNewInvite: boolean;
  /** The CANCEL of an INVITE that waits for its final response. */
  on(event: 'cancel', listener: () => void): void;
}

/** A received response. */
export interface SrfResponse extends SrfMessage {
  readonly status: number;
}

/** Request of ours as sent. */
export interface SrfSentRequest extends SrfMessage {
  /** Server's name of the transaction. */
  readonly stackTxnId: string;
  /** Cancels an INVITE; the server waits for a provisional response first. */
  cancel(callback?: (error: unknown) => void): void;
  on(event: 'response', listener: (response: SrfResponse) => void): void;
}

/** INVITE of ours. */
export interface SrfSentInvite extends SrfSentRequest {
  on(event: 'response', listener: (response: SrfResponse) => void): void;
  /** An UPDATE in an early dialog of the INVITE. `createUAC` adds a listener of its own. */
  on(event: 'update', listener: (request: SrfRequest, answer: SrfAnswer) => void): void;
  removeAllListeners(event: 'update'): void;
}

/** Headers and body of a message to be sent. */
export interface SrfMessageParts {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Answers one request. */
export interface SrfAnswer {
  /** @throws {Error} when the status is none that IANA lists. */
  send(status: number, parts?: SrfMessageParts): void;
}

type SrfDialogEvent = 'modify' | 'update' | 'info' | 'notify' | 'refer' | 'message';

/** A confirmed dialog. */
export interface SrfDialog {
  /** Identifier of the dialog on the server. */
  readonly id: string;
  /** Role of our side: `uac` for an outgoing call. */
  readonly type: 'uac' | 'uas';
  readonly sip: { readonly callId: string; readonly localTag: string; readonly remoteTag: string };
  /** The INVITE that began it, theirs or ours. */
  readonly req: Pick<SrfMessage, 'get' | keyof SrfSource>;
  /** Response to the INVITE; usable only if the far end sent it. */
  readonly res: SrfMessage;
  /** `contact`: our Contact header in the INVITE or its response. */
  readonly local: { readonly uri: string; sdp: string; readonly contact?: string };
  readonly remote: { readonly uri: string; readonly sdp: string | undefined };

  on(event: SrfDialogEvent, listener: (request: SrfRequest, answer: SrfAnswer) => void): void;
  on(event: 'ack', listener: (request: SrfRequest) => void): void;
  /** BYE of the far end, or of the server for want of an ACK or a session refresh. */
  on(event: 'destroy', listener: (request: SrfRequest) => void): void;

  /** Resolves with the final response; never when the connection to the server is lost meanwhile. */
  request(options: SrfMessageParts & { readonly method: string }): Promise<SrfResponse>;
}

interface SrfConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly reconnect: { readonly maxAttempts: number };
}

interface SrfInviteOptions {
  readonly localSdp: string;
  readonly headers: Record<string, string>;
  readonly proxy: string;
}

/** A request to be sent, inside a dialog or outside. */
export interface SrfRequestOptions extends SrfMessageParts {
  readonly method: string;
  /** The dialog that it belongs to, by the server's name for it; none when not given. */
  readonly stackDialogId?: string;
  /** Identifier of the transaction that a CANCEL ends. */
  readonly stackTxnId?: string;
  /** Next hop; default: by Route and Request-URI. */
  readonly proxy?: string;
}

/** Called with an error or a result. The error is text, an Error or a `SipError`. */
export type SrfCallback<T> = (error: unknown, result?: T) => void;

type SrfMethod =
  | 'invite'
  | 'options'
  | 'register'
  | 'subscribe'
  | 'publish'
  | 'message'
  | 'notify'
  | 'info';

/** Each takes the requests of a method; those of MESSAGE, NOTIFY and INFO only outside of dialogs. */
type SrfHandlers = Readonly<
  Record<SrfMethod, (handler: (request: SrfRequest, answer: SrfAnswer) => void) => void>
>;

/** One connection to a drachtio server. */
export interface SrfClient extends SrfHandlers {
  on(event: 'connect', listener: (error: unknown, ...hostPorts: unknown[]) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  on(event: 'close', listener: () => void): void;
  connect(options: SrfConnectOptions): void;
  /** @throws {Error} without a connection. */
  disconnect(): void;

  createUAS(
    request: SrfRequest,
    answer: SrfAnswer,
    options: { readonly localSdp: string; readonly headers: Readonly<Record<string, string>> },
    callback: SrfCallback<SrfDialog>,
  ): void;

  createUAC(
    uri: string,
    options: SrfInviteOptions,
    progress: {
      readonly cbRequest: (error: unknown, request?: SrfSentInvite) => void;
      readonly cbProvisional: (response: SrfResponse) => void;
    },
    callback: SrfCallback<SrfDialog>,
  ): void;

  /** Sends over the current connection. @throws {Error} without one. */
  request(uri: string, options: SrfRequestOptions, callback: SrfCallback<SrfSentRequest>): void;

  /** Removes a dialog without sending BYE. */
  removeDialog(dialog: SrfDialog): void;
}

/** Creates a drachtio-srf client; `connect` opens its connection. */
export function openSrf(): SrfClient {
  return new Srf() as unknown as SrfClient;
}

/** Internals of drachtio-srf that `Response.send` needs. */
interface Inside {
  readonly app: {
    readonly client: { readonly mapServer: ReadonlyMap<Socket, unknown> };
  };
}
type Made<T> = new (...parts: unknown[]) => T;
type OwnRequest = { agent: unknown; socket: unknown };
type OwnResponse = OwnRequest & {
  req: unknown;
  send(status: number, parts: SrfMessageParts, done: (error: unknown) => void): void;
};
const { SipMessage, SipRequest, SipResponse } = Srf as unknown as {
  readonly SipMessage: Made<object>;
  readonly SipRequest: Made<OwnRequest>;
  readonly SipResponse: Made<OwnResponse>;
};

/**
 * Answers a request that arrived over an earlier connection. Resolves when the server has sent the response.
 *
 * @throws {Error} without a connection, or when the server does not have the transaction.
 */
export function answerOrphan(
  srf: SrfClient,
  request: { readonly head: string; readonly transactionId: string },
  { status, ...parts }: SrfMessageParts & { readonly status: number },
): Promise<void> {
  const { client: agent } = (srf as unknown as Inside).app;
  const [socket] = agent.mapServer.keys();
  const { transactionId } = request;
  const req = new SipRequest(new SipMessage(request.head), { source: 'network', transactionId });
  const response = Object.assign(new SipResponse(), { req, agent, socket });
  Object.assign(req, { agent, socket });
  return new Promise((resolve, reject) => {
    response.send(status, parts, (error) => {
      if (error) reject(new Error(reasonOf(error), { cause: error }));
      else resolve();
    });
  });
}

/**
 * Sends a request. Resolves when the server has sent it; `answered` with the final response, never when the connection is
 * lost meanwhile.
 *
 * @throws {Error} without a connection, or when the server refuses.
 */
export function sendOver(
  srf: SrfClient,
  uri: string,
  options: SrfRequestOptions,
): Promise<{ readonly sent: SrfSentRequest; readonly answered: Promise<SrfResponse> }> {
  return new Promise((resolve, reject) => {
    srf.request(uri, options, (error, sent) => {
      if (sent === undefined) return reject(new Error(reasonOf(error), { cause: error }));
      // The listener is added in the callback: request and response may be confirmed in one packet.
      const answered = new Promise<SrfResponse>((answer) => {
        sent.on('response', (response) => response.status >= 200 && answer(response));
      });
      resolve({ sent, answered });
    });
  });
}

/** Node publishes each new client socket there. @see https://nodejs.org/api/diagnostics_channel.html */
const NEW_SOCKET = 'net.client.socket';

/** Returns the TCP socket that `open` creates: drachtio-srf gives no access to a socket that is still connecting. */
export function connectionOf(open: () => void): Socket | undefined {
  let socket: Socket | undefined;
  const take = (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    if (message.socket instanceof Socket) socket = message.socket;
  };
  subscribe(NEW_SOCKET, take);
  try {
    open();
  } finally {
    unsubscribe(NEW_SOCKET, take);
  }
  return socket;
}

/** Final response behind an error of `createUAC`; undefined without one. */
export function responseOf(error: unknown): SrfResponse | undefined {
  const hasResponse = typeof error === 'object' && error !== null && 'res' in error;
  return hasResponse ? (error.res as SrfResponse) : undefined;
}

/** SDP of a message, plain or in a multipart body; empty without one. */
export function sdpOf(message: SrfMessage): string {
  const part = message.payload.find(({ type }) => type?.toLowerCase().includes('application/sdp'));
  // drachtio-srf leaves the last boundary in the last part.
  if (part !== undefined) return part.content?.split('\r\n--', 1)[0] ?? '';
  return message.get('content-type') === undefined ? (message.body ?? '') : '';
}

/**
 * Code of a drachtio-srf error; undefined without one.
 *
 * `ENODIALOG`: the server does not have the dialog. `ESOCKETDESTROYED`: the dialog's connection is closed.
 */
export function codeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error ? error.code : codeOf(error.cause);
}

/**
 * Whether the server refused a response because the transaction is over: the caller has given up, and the CANCEL may
 * arrive later.
 */
export function isTransactionGone(error: unknown): boolean {
  return GONE.has(reasonOf(error));
}

/** Messages of our own server and of drachtio-server. */
const GONE: ReadonlySet<string> = new Set([
  'transaction not found',
  'Response not sent due to unknown transaction',
]);

/** Message of an error in any of drachtio-srf's forms. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
