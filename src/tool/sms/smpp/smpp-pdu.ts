/** PDUs of SMPP 3.4 that a client needs (bind, submit, deliver, link check, unbind), and the alphabets of their texts; pure */
import { gsmOctetsOf, gsmTextOf } from '../../../domain/sms/sms-rules.ts';

// A PDU: command_length (4 octets, all of it), command_id (4), command_status (4), sequence_number (4), body. Numbers are
// big-endian; texts end with NUL; optional parameters are tag (2), length (2), value. SMPP 3.4, 3.2.

/** Identifiers of commands; a response has the highest bit set. @see SMPP 3.4, 5.1.2.1 */
export const COMMANDS = {
  submit: 0x04,
  deliver: 0x05,
  unbind: 0x06,
  bindTransceiver: 0x09,
  enquireLink: 0x15,
} as const;

/** Response to a PDU that was not understood. */
export const GENERIC_NACK = 0x8000_0000;

/** Bit that turns a command's identifier into its response's. */
export const RESPONSE_BIT = 0x8000_0000;

const HEADER_OCTETS = 16;

/** More than any PDU that a gateway sends: a text of 64 KiB is none. */
const PDU_OCTETS_MAX = 70_000;

/** A received PDU. */
export interface Pdu {
  readonly command: number;
  /** 0 for success. */
  readonly status: number;
  readonly sequence: number;
  readonly body: Buffer;
}

/** Writes a PDU. */
export function writePdu({ command, status, sequence, body }: Pdu): Buffer {
  const header = Buffer.alloc(HEADER_OCTETS);
  header.writeUInt32BE(HEADER_OCTETS + body.length, 0);
  header.writeUInt32BE(command >>> 0, 4);
  header.writeUInt32BE(status, 8);
  header.writeUInt32BE(sequence, 12);
  return Buffer.concat([header, body]);
}

/**
 * Reads the first PDU of a stream.
 *
 * @returns undefined until there is a whole one.
 * @throws {RangeError} when its length is impossible: the stream cannot be read on.
 */
export function readPdu(bytes: Buffer): { readonly pdu: Pdu; readonly rest: Buffer } | undefined {
  if (bytes.length < 4) return undefined;
  const length = bytes.readUInt32BE(0);
  if (length < HEADER_OCTETS || length > PDU_OCTETS_MAX) {
    throw new RangeError(`Cannot read the PDU: its length is ${length}`);
  }
  if (bytes.length < length) return undefined;
  const pdu = {
    command: bytes.readUInt32BE(4),
    status: bytes.readUInt32BE(8),
    sequence: bytes.readUInt32BE(12),
    body: bytes.subarray(HEADER_OCTETS, length),
  };
  return { pdu, rest: bytes.subarray(length) };
}

/** `bind_transceiver`. @see SMPP 3.4, 4.1.5 */
export function bindBody({
  systemId,
  password,
}: {
  readonly systemId: string;
  readonly password: string;
}): Buffer {
  const [systemType, addressRange] = [cText(''), cText('')];
  const version = Buffer.from([0x34, 0, 0]);
  return Buffer.concat([cText(systemId), cText(password), systemType, version, addressRange]);
}

/** A message to be submitted. */
export interface Submission {
  /** E.164, or a name. */
  readonly from: string;
  /** E.164. */
  readonly to: string;
  readonly dataCoding: number;
  readonly octets: Buffer;
}

/** Longer texts go to an optional parameter. @see SMPP 3.4, 5.2.21 */
const SHORT_OCTETS_MAX = 140;

const MESSAGE_PAYLOAD = 0x0424;

/** `submit_sm` that asks for a delivery report. @see SMPP 3.4, 4.4.1 */
export function submitBody({ from, to, dataCoding, octets }: Submission): Buffer {
  const isShort = octets.length <= SHORT_OCTETS_MAX;
  const short = isShort ? octets : Buffer.alloc(0);
  return Buffer.concat([
    cText(''),
    ...[addressOf(from), addressOf(to)],
    // esm_class, protocol_id, priority_flag; schedule and validity are not given.
    ...[Buffer.from([0, 0, 0]), cText(''), cText('')],
    // registered_delivery, replace_if_present_flag, data_coding, sm_default_msg_id, sm_length.
    Buffer.from([1, 0, dataCoding, 0, short.length]),
    short,
    ...(isShort ? [] : [parameter(MESSAGE_PAYLOAD, octets)]),
  ]);
}

/** Type of number and numbering plan: international by E.164, or a name. @see SMPP 3.4, 5.2.5 and 5.2.6 */
function addressOf(text: string): Buffer {
  const isNumber = text.startsWith('+');
  const kind = Buffer.from(isNumber ? [1, 1] : [5, 0]);
  return Buffer.concat([kind, cText(isNumber ? text.slice(1) : text)]);
}

function parameter(tag: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(tag, 0);
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value]);
}

/** A NUL in a text would end it early. */
function cText(text: string): Buffer {
  return Buffer.from(`${text.replaceAll('\0', '')}\0`, 'latin1');
}

/** A message, or a report, from the gateway. */
export interface Delivery {
  readonly from: string;
  readonly isReport: boolean;
  readonly dataCoding: number;
  readonly octets: Buffer;
  /** Message id and state of a report, where the optional parameters have them. */
  readonly messageId: string | undefined;
  readonly state: number | undefined;
}

const RECEIPTED_MESSAGE_ID = 0x001e;

const MESSAGE_STATE = 0x0427;

/** `esm_class`: type of the message. @see SMPP 3.4, 5.2.12 */
const TYPE_BITS = 0x3c;
const RECEIPT_BIT = 0x04;

/** `esm_class`: the text begins with a user data header. */
const UDH_BIT = 0x40;

/** `deliver_sm`. @throws {RangeError} when it ends early. @see SMPP 3.4, 4.6.1 */
export function readDelivery(body: Buffer): Delivery {
  const reader = new Reader(body);
  reader.text();
  reader.skip(2);
  const from = reader.text();
  reader.skip(2);
  reader.text();
  const esmClass = reader.octet();
  reader.skip(2);
  reader.text();
  reader.text();
  reader.skip(2);
  const dataCoding = reader.octet();
  reader.skip(1);
  const short = reader.octets(reader.octet());
  const parameters = reader.parameters();
  const whole = short.length > 0 ? short : (parameters.get(MESSAGE_PAYLOAD) ?? short);
  const hasHeader = (esmClass & UDH_BIT) !== 0;
  return {
    from,
    isReport: (esmClass & TYPE_BITS) === RECEIPT_BIT,
    dataCoding,
    octets: hasHeader ? whole.subarray(1 + (whole[0] ?? 0)) : whole,
    messageId: readMessageId(parameters.get(RECEIPTED_MESSAGE_ID)),
    state: parameters.get(MESSAGE_STATE)?.[0],
  };
}

/** The identifier of a message; undefined where it is empty. Some gateways write it without the NUL at its end. */
export function readMessageId(octets: Buffer | undefined): string | undefined {
  return octets?.toString('latin1').replace(/\0.*$/s, '') || undefined;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  octet(): number {
    return this.octets(1)[0] ?? 0;
  }

  octets(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) {
      throw new RangeError('Cannot read the PDU: it ends early');
    }
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  skip(count: number): void {
    this.octets(count);
  }

  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) throw new RangeError('Cannot read the PDU: a text does not end');
    const text = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** The rest, by tag; the first of each. */
  parameters(): ReadonlyMap<number, Buffer> {
    const found = new Map<number, Buffer>();
    while (this.#bytes.length - this.#at >= 4) {
      const head = this.octets(4);
      const value = this.octets(head.readUInt16BE(2));
      if (!found.has(head.readUInt16BE(0))) found.set(head.readUInt16BE(0), value);
    }
    return found;
  }
}

/** Values of `data_coding`. @see SMPP 3.4, 5.2.19 */
const CODINGS = { standard: 0, ucs2: 8 } as const;

/** A text as octets, with its `data_coding`. */
interface CodedText {
  readonly dataCoding: number;
  readonly octets: Buffer;
}

/** Encodes a text: in the basic alphabet, one octet a character, where it has all of them; else in UCS-2. */
export function encodeText(text: string): CodedText {
  const basic = gsmOctetsOf(text);
  if (basic !== undefined) return { dataCoding: CODINGS.standard, octets: Buffer.from(basic) };
  return { dataCoding: CODINGS.ucs2, octets: Buffer.from(text, 'utf16le').swap16() };
}

/** Decodes the text of a message from a telephone; octets of an unknown coding are read as Latin 1. */
export function decodeText({ dataCoding, octets }: CodedText): string {
  if (dataCoding === CODINGS.ucs2) {
    return Buffer.from(octets.subarray(0, octets.length & ~1))
      .swap16()
      .toString('utf16le');
  }
  return dataCoding === CODINGS.standard ? gsmTextOf(octets) : octets.toString('latin1');
}
