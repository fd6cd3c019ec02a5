/** A SIP message as the engine holds it: start line, headers in order, body; pure */
import { consistsOf, endOfRun, parseDecimal, skipSpace, splitList, TOKEN } from './grammar.ts';
import { isWireText, lineStart, wireName } from './header-name.ts';
import { type NameAddr, parseNameAddr } from './name-addr.ts';
import { faultOf, reasonPhrase, SipError } from './status.ts';
import { parseVia, type Via } from './via.ts';

const NO_BODY = Buffer.alloc(0);

/** One line; messages share them, so none ever changes. */
export type HeaderLine = readonly [name: string, value: string];

/** What was read from a value, which holds as long as the header has that value. */
interface Reading<T> {
  readonly text: string;
  readonly result: T;
}

/**
 * One request or response.
 *
 * All text is wire text: one character for each octet (latin1), so that what came in goes out
 * unchanged. Only display names are decoded. Header names are long and in lower case.
 *
 * The getters of parsed values throw `SipError` 400 where the header is missing or malformed; in a
 * message that `parseMessage` returned they do not throw. What they return is not to be changed.
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

  /** The octets that it was read from, where they came as one piece; what is changed later does not change them. */
  wire: Buffer | undefined = undefined;

  /** Name and value of every header line, top to bottom. */
  headers: HeaderLine[] = [];

  #via: Reading<Via> | undefined;
  #from: Reading<NameAddr> | undefined;
  #to: Reading<NameAddr> | undefined;
  #cseq: Reading<CSeq> | undefined;
  #contact: Reading<NameAddr> | undefined;

  get isRequest(): boolean {
    return this.method !== '';
  }

  /** The first value of that name, of possibly several lines. */
  get(name: string): string | undefined {
    for (const header of this.headers) if (header[0] === name) return header[1];
    return undefined;
  }

  /** The values of all lines of that name, unsplit. */
  all(name: string): string[] {
    const values: string[] = [];
    for (const header of this.headers) if (header[0] === name) values.push(header[1]);
    return values;
  }

  /** The values of all lines of that name, split at their commas. */
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

  /** Puts one value where the first of that name stood, or last, and takes the others away. */
  set(name: string, value: string | number): this {
    const index = this.headers.findIndex((header) => header[0] === name);
    if (index === -1) return this.add(name, value);
    const isOnly = this.headers.findLastIndex((header) => header[0] === name) === index;
    if (!isOnly)
      this.headers = this.headers.filter((header, i) => i <= index || header[0] !== name);
    this.headers[index] = [name, String(value)];
    return this;
  }

  /** Adds a line below all others. */
  add(name: string, value: string | number): this {
    this.headers.push([name, String(value)]);
    return this;
  }

  /** Adds a line above all others, as a new Via or Route needs. */
  prepend(name: string, value: string | number): this {
    this.headers.unshift([name, String(value)]);
    return this;
  }

  /** Takes all lines of that name away. */
  delete(name: string): this {
    this.headers = this.headers.filter((header) => header[0] !== name);
    return this;
  }

  /** A copy whose headers are its own; the body's octets are shared. */
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
    this.#via = reading(this.#via, this.#required('via'), parseFirstVia);
    return this.#via.result;
  }

  get from(): NameAddr {
    this.#from = reading(this.#from, this.#required('from'), parseNameAddr);
    return this.#from.result;
  }

  get to(): NameAddr {
    this.#to = reading(this.#to, this.#required('to'), parseNameAddr);
    return this.#to.result;
  }

  get cseq(): CSeq {
    this.#cseq = reading(this.#cseq, this.#required('cseq'), parseCSeq);
    return this.#cseq.result;
  }

  /** The first Contact; undefined where there is none, or it is `*`. */
  get contact(): NameAddr | undefined {
    const first = this.#firstOf('contact');
    if (first === undefined || first === '*') return undefined;
    this.#contact = reading(this.#contact, first, parseNameAddr);
    return this.#contact.result;
  }

  /** Empty where there is none. */
  get callId(): string {
    return this.get('call-id') ?? '';
  }

  /** Empty where there is none, as RFC 2543 peers leave it. */
  get fromTag(): string {
    return this.from.params.get('tag') ?? '';
  }

  /** Empty where there is none. */
  get toTag(): string {
    return this.to.params.get('tag') ?? '';
  }

  /**
   * Writes the message, with its Content-Length.
   *
   * @throws {TypeError} when a name or value holds what would change the lines around it, or a
   * character that is no octet.
   */
  toBuffer(): Buffer {
    // Pieces that are joined once: text that grows leaves something of each step to the garbage collector.
    const pieces = this.isRequest
      ? [`${checkedText('method', this.method)} ${checkedText('Request-URI', this.uri)} SIP/2.0`]
      : [`SIP/2.0 ${this.status} ${checkedText('reason phrase', this.reason)}`];
    for (const [name, value] of this.headers) {
      if (name !== 'content-length') pieces.push(lineStart(name), checkedText(name, value));
    }
    pieces.push(lineStart('content-length'), `${this.body.length}\r\n\r\n`);
    const head = pieces.join('');
    const bytes = Buffer.allocUnsafe(head.length + this.body.length);
    bytes.write(head, 'latin1');
    if (this.body.length > 0) bytes.set(this.body, head.length);
    return bytes;
  }

  /** As `list(name)[0]`, for what is asked so often that the lists would be most of a message's garbage. */
  #firstOf(name: string): string | undefined {
    for (const [each, value] of this.headers) {
      if (each !== name) continue;
      const [first] = splitList(value);
      if (first !== undefined) return first;
    }
    return undefined;
  }

  #required(name: string): string {
    const value = this.get(name);
    if (value === undefined) throw new SipError(400, `Missing ${wireName(name)}`);
    return value;
  }
}

function reading<T>(
  last: Reading<T> | undefined,
  text: string,
  parse: (text: string) => T,
): Reading<T> {
  return last?.text === text ? last : { text, result: parse(text) };
}

function parseFirstVia(line: string): Via {
  return parseVia(splitList(line)[0] ?? '');
}

/** The text of that part of a message, shown to end no line and to be octets. */
function checkedText(part: string, text: string): string {
  if (isWireText(text)) return text;
  throw new TypeError(`Cannot write SIP message: its "${part}" holds a line break or wide text`);
}

/** The number and method that tell one request of a dialog from the next */
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
  const numberStart = skipSpace(text, 0);
  const numberEnd = endOfRun(text, TOKEN, numberStart);
  const seq = parseDecimal(text.slice(numberStart, numberEnd), SEQ_MAX);
  const method = text.slice(skipSpace(text, numberEnd)).trimEnd();
  const isSpaced = skipSpace(text, numberEnd) > numberEnd;
  if (seq === undefined || !isSpaced || !consistsOf(method, TOKEN)) {
    throw new SipError(400, 'Bad CSeq');
  }
  return { seq, method };
}

/** Lines that every response has from its request, byte for byte. */
const COPIED = new Set(['via', 'from', 'to', 'call-id', 'cseq']);

/** Requests whose answer makes a dialog, and so needs the way it took. */
const DIALOG_METHODS = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'NOTIFY']);

/**
 * Makes the response to a request, which may be a broken one: lines that it lacks are left out.
 *
 * @param reason the standard phrase where none is given
 * @param toTag put on To where the request's has none; a 100 gets none (section 8.2.6.2)
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
  if (status > 100 && toTag !== undefined && lacksToTag(request)) {
    response.set('to', `${request.get('to')};tag=${toTag}`);
  }
  return response;
}

/** A To that cannot be read is echoed as it came: whoever sent it will know it again. */
function lacksToTag(request: SipMessage): boolean {
  return faultOf(() => request.to) === undefined && request.toTag === '';
}

/**
 * Why a whole message was refused.
 *
 * `status` is 0 where nothing may be answered: a response, an ACK, a message without a usable top Via.
 */
export class BadMessageError extends SipError {
  override readonly name = 'BadMessageError';

  /**
   * The part that was read: always the lines that could be, so that a request can be answered
   * statelessly with `makeResponse`; undefined where not even the start line made sense.
   */
  readonly sipMessage: SipMessage | undefined;

  constructor(status: number, message: string, sipMessage?: SipMessage) {
    super(status, message);
    this.sipMessage = sipMessage;
  }
}
