/** Request check: well-formed requests that the engine cannot serve, found before any handling; pure */
import { BRANCH_COOKIE, type SipMessage } from '../message/message.ts';
import {
  describesSession,
  isOptional,
  mediaType,
  SESSION_TYPE,
  SESSION_TYPES,
  sessionBodyOf,
} from '../message/session-body.ts';
import { faultOf, ifSound, reasonPhrase } from '../message/status.ts';
import { uriScheme } from '../message/uri.ts';

/** @see IANA, Session Initiation Protocol parameters, methods */
const KNOWN = new Set(
  'ACK BYE CANCEL INFO INVITE MESSAGE NOTIFY OPTIONS PRACK PUBLISH REFER REGISTER SUBSCRIBE UPDATE'.split(
    ' ',
  ),
);

/** Methods that the engine or its application answers, as listed in Allow. */
const SERVED_METHODS = 'INVITE ACK CANCEL BYE OPTIONS UPDATE PRACK INFO REFER NOTIFY MESSAGE'.split(
  ' ',
);

const SERVED: ReadonlySet<string> = new Set(SERVED_METHODS);

/** With REGISTER, which an application may take; it stands in no Allow, since most servers are no registrars. */
export const SERVED_BY_REGISTRAR: ReadonlySet<string> = new Set([...SERVED_METHODS, 'REGISTER']);

/** Whether the method is registered. Methods are case-sensitive. */
export function isKnownMethod(method: string): boolean {
  return KNOWN.has(method);
}

/** Status, reason and headers of a refusal. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;

  /** Header names in lower case, as messages hold them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Extensions that the engine understands, as Supported lists them. RFC 3262, RFC 4028. */
export const SUPPORTED_EXTENSIONS = ['100rel', 'timer'] as const;

/** Value of Allow. */
export const ALLOW = SERVED_METHODS.join(', ');
const SCHEMES = new Set(['sip', 'sips', 'tel']);
const SUPPORTED: ReadonlySet<string> = new Set(SUPPORTED_EXTENSIONS);

/** Extensions of INVITE: Replaces (RFC 3891) is the application's, which lists it where it takes it, and refuses it elsewhere. */
const SUPPORTED_BY_INVITE: ReadonlySet<string> = new Set([...SUPPORTED_EXTENSIONS, 'replaces']);

/** A media type with wildcards that covers session descriptions. */
const SESSION_RANGES = new Set([SESSION_TYPE, 'application/*', '*/*']);

/** RFC 3261, section 8.2: method, then address, extensions, content. */
const CHECKS = [
  checkMethod,
  checkScheme,
  checkRequire,
  checkContact,
  checkEncoding,
  checkContent,
  checkAccept,
];

/**
 * Decides whether a well-formed request must be refused, independently of dialogs, transactions and its sender.
 *
 * ACK is never refused, and CANCEL only for its method and address (section 8.2.2.3: no Require in either).
 *
 * @param served methods that are not refused.
 * @see RFC 3261 section 8.2
 */
export function checkRequest(request: SipMessage, served = SERVED): Refusal | undefined {
  if (request.method === 'ACK') return undefined;
  for (const check of CHECKS) {
    const refusal = check(request, served);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function refuse(status: number, ...headers: [name: string, value: string][]): Refusal {
  return { status, reason: reasonPhrase(status), headers };
}

function checkMethod({ method }: SipMessage, served: ReadonlySet<string>): Refusal | undefined {
  if (!isKnownMethod(method)) return refuse(501, ['allow', ALLOW]);
  return served.has(method) ? undefined : refuse(405, ['allow', ALLOW]);
}

function checkScheme({ uri }: SipMessage): Refusal | undefined {
  return SCHEMES.has(uriScheme(uri)) ? undefined : refuse(416);
}

function checkRequire(request: SipMessage): Refusal | undefined {
  if (request.method === 'CANCEL') return undefined;
  const required = request.list('require');
  if (required.length === 0) return undefined;
  const supported = request.method === 'INVITE' ? SUPPORTED_BY_INVITE : SUPPORTED;
  const unsupported = required.filter((tag) => !supported.has(tag.toLowerCase()));
  if (unsupported.length === 0) return undefined;
  return refuse(420, ['unsupported', unsupported.join(', ')]);
}

/**
 * An INVITE without Contact leaves no remote target (section 8.1.1.8). RFC 2543 peers, recognised by their branch,
 * may omit it; From is used instead.
 */
function checkContact(request: SipMessage): Refusal | undefined {
  if (request.method !== 'INVITE' || !isRfc3261(request)) return undefined;
  if (ifSound(() => request.contact) !== undefined) return undefined;
  return { status: 400, reason: 'Missing Contact', headers: [] };
}

function isRfc3261(request: SipMessage): boolean {
  return request.via.params.get('branch')?.startsWith(BRANCH_COOKIE) === true;
}

function checkEncoding(request: SipMessage): Refusal | undefined {
  if (request.body.length === 0) return undefined;
  const encodings = request.list('content-encoding');
  const isPlain = encodings.every((encoding) => encoding.toLowerCase() === 'identity');
  if (isPlain || isOptional(request.get('content-disposition') ?? '')) return undefined;
  return refuse(415, ['accept-encoding', 'identity']);
}

function checkContent(request: SipMessage): Refusal | undefined {
  if (!describesSession(request.method) || request.body.length === 0) return undefined;
  if (request.get('content-type') === SESSION_TYPE) return undefined;
  let isUnderstood = true;
  const fault = faultOf(() => {
    isUnderstood = sessionBodyOf(request).isUnderstood;
  });
  if (fault !== undefined) return { status: fault.status, reason: fault.message, headers: [] };
  return isUnderstood ? undefined : refuse(415, ['accept', SESSION_TYPES]);
}

/** A caller whose Accept excludes SDP could not read the answer. RFC 4475, 3.3.15. */
function checkAccept(request: SipMessage): Refusal | undefined {
  if (request.method !== 'INVITE') return undefined;
  const ranges = request.list('accept');
  const isServed = ranges.some((range) => SESSION_RANGES.has(mediaType(range)));
  if (ranges.length === 0 || isServed) return undefined;
  return refuse(406);
}

/** User agents of scanners, as in sip-config/drachtio.conf.xml. */
const SCANNER = /\b(?:sip-?cli|friendly-scanner|sipvicious)\b/i;

/** Whether a request may be answered at all. A known scanner gets no response, which would reveal the server. */
export function isAllowedUserAgent(request: SipMessage): boolean {
  return !SCANNER.test(request.get('user-agent') ?? '');
}
