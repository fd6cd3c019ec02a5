/** Protocol Buffers without a schema: the fields of one message, and fields put together again; pure */

/** More than any graph has; what has more is no graph and would only fill memory. */
const FIELDS_MAX = 200_000;

/** A varint of 64 bits is no longer. */
const VARINT_BYTES_MAX = 10;

/** The bytes are no message. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';

  constructor(reason: string) {
    super(`Cannot read as Protobuf: ${reason}`);
  }
}

/** One field. Its parts are views into the message, not copies. */
export interface ProtobufField {
  readonly number: number;
  /** Bytes, text, message or packed numbers; else one number. */
  readonly isLong: boolean;
  /** Tag and all. */
  readonly bytes: Uint8Array;
  /** What a field of bytes, text or message holds; empty in others. */
  readonly content: Uint8Array;
  /** What a varint says; imprecise beyond 2^53, where negative numbers lie. 0 in others. */
  readonly value: number;
}

/**
 * Reads the fields of a message, in their order.
 *
 * @throws {ProtobufError} when a field goes on beyond the end, is of an unknown kind, or there are too many.
 * @see https://protobuf.dev/programming-guides/encoding
 */
export function fieldsOf(message: Uint8Array): readonly ProtobufField[] {
  const fields: ProtobufField[] = [];
  let at = 0;
  while (at < message.length) {
    if (fields.length === FIELDS_MAX) throw new ProtobufError(`more than ${FIELDS_MAX} fields`);
    const field = fieldAt(message, at);
    fields.push(field);
    // A tag has one byte at least, so that this ends.
    at += field.bytes.length;
  }
  return fields;
}

/** Reads a field's text. */
export function textOf({ content }: ProtobufField): string {
  return new TextDecoder().decode(content);
}

/** Reads the whole numbers of a repeated field, packed or one by one. */
export function numbersOf(fields: readonly ProtobufField[], number: number): readonly number[] {
  return fields.filter((field) => field.number === number).flatMap(numbersIn);
}

function numbersIn({ isLong, content, value }: ProtobufField): readonly number[] {
  if (!isLong) return [value];
  const numbers: number[] = [];
  for (let at = 0; at < content.length; ) {
    const { value: next, end } = varintAt(content, at);
    numbers.push(next);
    at = end;
  }
  return numbers;
}

/** Makes a field of bytes, text or message. */
export function bytesField(number: number, content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return join([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** Makes a field of a whole number, 0 or greater. */
export function varintField(number: number, value: number): Uint8Array {
  return join([varint(number * 8), varint(value)]);
}

/** Puts bytes one after the other. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * ```text
 * tag (varint): number << 3 | wire type
 * wire type 0: varint    1: eight bytes    2: length (varint), that many bytes    5: four bytes
 * ```
 */
function fieldAt(message: Uint8Array, start: number): ProtobufField {
  const tag = varintAt(message, start);
  const number = Math.floor(tag.value / 8);
  const part = (contentStart: number, end: number, value: number) => {
    if (end > message.length) throw new ProtobufError('a field goes on beyond the end');
    const bytes = message.subarray(start, end);
    const isLong = tag.value % 8 === 2;
    return { number, isLong, bytes, content: message.subarray(contentStart, end), value };
  };
  switch (tag.value % 8) {
    case 0: {
      const { value, end } = varintAt(message, tag.end);
      return part(end, end, value);
    }
    case 1:
      return part(tag.end + 8, tag.end + 8, 0);
    case 2: {
      const length = varintAt(message, tag.end);
      return part(length.end, length.end + length.value, 0);
    }
    case 5:
      return part(tag.end + 4, tag.end + 4, 0);
    default:
      throw new ProtobufError('a field is of an unknown kind');
  }
}

function varintAt(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) throw new ProtobufError('a number goes on beyond the end');
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw new ProtobufError('a number has more than 64 bits');
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Uint8Array.of(...bytes, rest);
}
