/** SIP messages: start line, headers in order, Via, body; and the responses made from requests; pure */
import {
  formatParams,
  isToken,
  isWireText,
  type Params,
  parseDecimal,
  parseParams,
  splitList,
  TOKEN,
  wireName,
} from './grammar.ts';
import { ifSound, reasonPhrase, SipError } from './status.ts';
import { formatHostPort, HOST, type NameAddr, parseNameAddr, portOf } from './uri.ts';

const NO_BODY = Buffer.alloc(0);

/** One header line. Messages share lines, so a line is immutable. */
export type HeaderLine = readonly [name: string, value: string];

/**
 * One request or response.
 *
 * All text is wire text: one character per octet (latin1), so that it is sent exactly as received. Only display names
 * are decoded. Header names are canonical: long and in lower case.
 *
 * The getters of parsed values throw `SipError` 400 for a missing or malformed header; a message that `parseMessage`
 * returned has none.
 */
export class SipMessage {
  /** Empty in responses. */
  method = '';

  /** The Request-URI; empty in responses. */
  uri = '';

  /** 0 in requests. */
  status = 0;
  reason = '';
  body: Buffer = NO_BODY;

  /** Octets of a received datagram; later changes of the message do not affect them. */
  wire: Buffer | undefined = undefined;

  /** Name and value of every header line, in order. */
  headers: HeaderLine[] = [];

  get isRequest(): boolean {
    return this.method !== '';
  }

  /** First value of the header, of possibly several lines. */
  get(name: string): string | undefined {
    for (const header of this.headers) if (header[0] === name) return header[1];
    return undefined;
  }

  /** Values of all lines of the header, not split at commas. */
  all(name: string): string[] {
    const values: string[] = [];
    for (const header of this.headers) if (header[0] === name) values.push(header[1]);
    return values;
  }

  /** Values of all lines of the header, split at commas. */
  list(name: string): string[] {
    const values: string[] = [];
    for (const [each, value] of this.headers) {
      if (each === name) values.push(...splitList(value));
    }
    return values;
  }

  /** Whether the comma-separated header lists the token, in any case. */
  hasToken(name: string, token: string): boolean {
    const wanted = token.toLowerCase();
    return this.list(name).some((value) => value.toLowerCase() === wanted);
  }

  /** Replaces all lines of the header by one, at the place of the first, or at the end. */
  set(name: string, value: string | number): this {
    const index = this.headers.findIndex((header) => header[0] === name);
    if (index === -1) return this.add(name, value);
    const isOnly = this.headers.findLastIndex((header) => header[0] === name) === index;
    if (!isOnly)
      this.headers = this.headers.filter((header, i) => i <= index || header[0] !== name);
    this.headers[index] = [name, String(value)];
    return this;
  }

  /** Appends a line. */
  add(name: string, value: string | number): this {
    this.headers.push([name, String(value)]);
    return this;
  }

  /** Inserts a line at the top, as for a new Via or Route. */
  prepend(name: string, value: string | number): this {
    this.headers.unshift([name, String(value)]);
    return this;
  }

  /** Removes all lines of the header. */
  delete(name: string): this {
    this.headers = this.headers.filter((header) => header[0] !== name);
    return this;
  }

  /** Copy with headers of its own and the same body buffer. */
  clone(): SipMessage {
    const copy = new SipMessage();
    copy.method = this.method;
    copy.uri = this.uri;
    copy.status = this.status;
    copy.reason = this.reason;
    copy.body = this.body;
    copy.headers = [...this.headers];
    return copy;
  }

  /** The top Via. */
  get via(): Via {
    return parseVia(splitList(this.#required('via'))[0] ?? '');
  }

  get from(): NameAddr {
    return parseNameAddr(this.#required('from'));
  }

  get to(): NameAddr {
    return parseNameAddr(this.#required('to'));
  }

  get cseq(): CSeq {
    return parseCSeq(this.#required('cseq'));
  }

  /** First Contact; undefined without one, and for `*`. */
  get contact(): NameAddr | undefined {
    const [first] = this.list('contact');
    return first === undefined || first === '*' ? undefined : parseNameAddr(first);
  }

  /** Empty without a Call-ID. */
  get callId(): string {
    return this.get('call-id') ?? '';
  }

  /** Empty without a tag, as in requests of RFC 2543 peers. */
  get fromTag(): string {
    return this.from.params.get('tag') ?? '';
  }

  /** Empty outside dialogs. */
  get toTag(): string {
    return this.to.params.get('tag') ?? '';
  }

  /**
   * Serialises the message, with its Content-Length.
   *
   * @throws {TypeError} when a name or value holds a line break, or a character that is not an octet.
   */
  toBuffer(): Buffer {
    const lines = this.isRequest
      ? [`${checkedText('method', this.method)} ${checkedText('Request-URI', this.uri)} SIP/2.0`]
      : [`SIP/2.0 ${this.status} ${checkedText('reason phrase', this.reason)}`];
    for (const [name, value] of this.headers) {
      if (name !== 'content-length') lines.push(`${wireName(name)}: ${checkedText(name, value)}`);
    }
    lines.push(`Content-Length: ${this.body.length}\r\n\r\n`);
    const head = Buffer.from(lines.join('\r\n'), 'latin1');
    return this.body.length > 0 ? Buffer.concat([head, this.body]) : head;
  }

  #required(name: string): string {
    const value = this.get(name);
    if (value === undefined) throw new SipError(400, `Missing ${wireName(name)}`);
    return value;
  }
}

/** Returns the text of a message part after checking it for line breaks and characters beyond an octet. */
function checkedText(part: string, text: string): string {
  if (isWireText(text)) return text;
  throw new TypeError(`Cannot write SIP message: its "${part}" holds a line break or wide text`);
}

/** Sequence number and method of a request within its dialog. */
interface CSeq {
  readonly seq: number;
  readonly method: string;
}

/** @see RFC 3261 section 8.1.1.5: less than 2 to the power of 31 */
const SEQ_MAX = 0x7fffffff;

/**
 * Reads a CSeq value.
 *
 * @throws {SipError} 400 when the text is none.
 */
function parseCSeq(text: string): CSeq {
  const [, digits = '', method = ''] = /^[ \t]*(\d+)[ \t]+(\S+)[ \t]*$/.exec(text) ?? [];
  const seq = parseDecimal(digits, SEQ_MAX);
  if (seq === undefined || !isToken(method)) throw new SipError(400, 'Bad CSeq');
  return { seq, method };
}

/** Call-ID, tags and CSeq of a message. */
export interface MessageIds {
  readonly callId: string;
  readonly fromTag: string;
  /** Empty outside of dialogs. */
  readonly toTag: string;
  readonly sequence: number;
}

/** @throws {SipError} 400 when one of the headers is missing or malformed. */
export function idsOf(message: SipMessage): MessageIds {
  return {
    callId: message.callId,
    fromTag: message.fromTag,
    toTag: message.toTag,
    sequence: message.cseq.seq,
  };
}

/** Headers that every response copies from its request. */
const COPIED = new Set(['via', 'from', 'to', 'call-id', 'cseq']);

/** Methods whose 2xx creates a dialog, and therefore copies Record-Route. */
const DIALOG_METHODS = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'NOTIFY']);

/**
 * Makes the response to a request. Headers that a broken request lacks are left out.
 *
 * @param reason reason phrase; default: the standard one.
 * @param toTag added to a To without a tag, except in a 100 (section 8.2.6.2).
 * @see RFC 3261 sections 8.2.6 and 12.1.1
 */
export function makeResponse(
  request: SipMessage,
  status: number,
  reason?: string,
  toTag?: string,
): SipMessage {
  const response = new SipMessage();
  response.status = status;
  response.reason = reason ?? reasonPhrase(status);

  const isRouteDue = status > 100 && status < 300 && DIALOG_METHODS.has(request.method);
  for (const line of request.headers) {
    const [name] = line;
    const isDue =
      COPIED.has(name) ||
      (name === 'timestamp' && status === 100) ||
      (name === 'record-route' && isRouteDue);
    if (isDue) response.headers.push(line);
  }
  // An unparsable To is echoed as received.
  if (status > 100 && toTag !== undefined && ifSound(() => request.toTag) === '') {
    response.set('to', `${request.get('to')};tag=${toTag}`);
  }
  return response;
}

/**
 * Parse error of a whole message.
 *
 * `status` is 0 where no response may be sent: to a response, an ACK, or a message without a usable top Via.
 */
export class BadMessageError extends SipError {
  override readonly name = 'BadMessageError';

  /**
   * Readable part of the message, for a stateless response with `makeResponse`; undefined for an unreadable start
   * line.
   */
  readonly sipMessage: SipMessage | undefined;

  constructor(status: number, message: string, sipMessage?: SipMessage) {
    super(status, message);
    this.sipMessage = sipMessage;
  }
}

/** One Via value. @see RFC 3261 section 20.42 */
export interface Via {
  /** `2.0` in every message that can be answered. */
  readonly version: string;

  /** Upper case: UDP, TCP, TLS, or any other token. */
  readonly transport: string;

  /** The sent-by host, lower case; an IPv6 address keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
}

/** Prefix of every RFC 3261 branch. RFC 3261, 8.1.1.7. */
export const BRANCH_COOKIE = 'z9hG4bK';

const VIA = new RegExp(
  '^[ \\t]*SIP[ \\t]*/[ \\t]*(\\d+\\.\\d+)[ \\t]*/[ \\t]*' +
    `([${TOKEN}]+)[ \\t]+${HOST}[ \\t]*(?::[ \\t]*(\\d+))?([\\s\\S]*)$`,
  'i',
);

/**
 * Reads one Via value.
 *
 * ```
 * SIP / 2.0 / UDP  host : port ; branch = z9hG4bK...
 * ```
 *
 * @throws {SipError} 400 when the text is none.
 * @see RFC 3261 section 20.42 and section 25.1, via-parm
 */
export function parseVia(text: string): Via {
  const [, version, transport = '', host = '', port, params = ''] = VIA.exec(text) ?? [];
  if (version === undefined) throw new SipError(400, 'Bad Via');
  return {
    version,
    transport: transport.toUpperCase(),
    host: host.toLowerCase(),
    port: portOf(port),
    params: parseParams(params),
  };
}

/** Writes the Via back. */
export function formatVia(via: Via): string {
  return `SIP/${via.version}/${via.transport} ${formatHostPort(via)}${formatParams(via.params)}`;
}
