/** The Wyoming protocol: connections to its servers, their descriptions, and its events over TCP, written and read. */
import { connect, type Socket } from 'node:net';
import { isObject } from '../../lib/unknown-value.ts';
import { connectionFault, shortFault } from './speech-http.ts';

/** Bytes of an answer in all: 10 minutes of audio at 48 kHz. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Servers close the connection after an answer or keep it, so that each request opens its own.
 *
 * @see README.md of OHF-Voice/wyoming, "Event Flow"
 */
export class WyomingConnection {
  readonly #socket: Socket;
  readonly #signal: AbortSignal;

  /** @param address `tcp://host:port`. @param signal closes the connection at once. */
  constructor(address: string, signal: AbortSignal) {
    const { hostname, port } = new URL(address);
    const host = hostname.replace(/^\[|\]$/g, '');
    this.#signal = signal;
    this.#socket = connect({ host, port: Number(port), signal, noDelay: true });
    // `events` throws it; without a listener an error in between would end the process.
    this.#socket.on('error', () => undefined);
  }

  /** Sends an event, once the connection is there. */
  send(
    type: string,
    data?: Readonly<Record<string, unknown>>,
    payload?: Uint8Array,
  ): WyomingConnection {
    this.#socket.write(wyomingBytes(type, data, payload));
    return this;
  }

  /**
   * The server's events, as they arrive, until it closes the connection. Leaving the loop closes it too.
   *
   * @throws {Error} naming the fault, also one that the server reports.
   * @throws the signal's reason when aborted.
   */
  async *events(): AsyncGenerator<WyomingEvent> {
    const reader = new WyomingReader();
    let length = 0;
    for await (const bytes of this.#received()) {
      length += bytes.length;
      if (length > ANSWER_BYTES_MAX) throw new Error('its answer is too long');
      for (const event of reader.push(bytes)) {
        if (event.type === 'error') throw new Error(errorIn(event));
        yield event;
      }
    }
    this.#signal.throwIfAborted();
  }

  /** Safe to call twice. */
  close(): void {
    this.#socket.destroy();
  }

  async *#received(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#socket;
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new Error(connectionFault(error), { cause: error });
    }
  }
}

function errorIn({ data: { text, code } }: WyomingEvent): string {
  const told = [text, code].find((part) => typeof part === 'string' && part !== '');
  return told === undefined
    ? 'it answered with an error'
    : `it answered: ${shortFault(String(told))}`;
}

/** A model of a recogniser, or a voice. */
export interface WyomingArtifact {
  readonly name: string;
  /** Languages as the server writes them, such as `en`, `en_US`, `en-us`; empty where it does not tell. */
  readonly languages: readonly string[];
  /** Speakers of a voice that has several. */
  readonly speakers: readonly string[];
}

interface WyomingInfo {
  /** Null where it recognises no speech. */
  readonly models: readonly WyomingArtifact[] | null;
  /** Null where it does not speak. */
  readonly voices: readonly WyomingArtifact[] | null;
  /** Whether text can be sent in pieces, and each sentence is spoken as soon as it is there. */
  readonly takesTextStream: boolean;
}

/** Longer lists are cut. */
const LIST_MAX = 2000;

/**
 * Asks a server what it offers.
 *
 * @throws {Error} naming the fault.
 * @throws the signal's reason when aborted.
 */
export async function describeWyoming(address: string, signal: AbortSignal): Promise<WyomingInfo> {
  const connection = new WyomingConnection(address, signal).send('describe');
  for await (const { type, data } of connection.events()) {
    if (type === 'info') return wyomingInfo(data);
  }
  throw new Error('it closed the connection without describing itself');
}

/**
 * Reads the data of an `info` event; models and voices that are not installed are left out.
 *
 * @see README.md of OHF-Voice/wyoming, "Info"; wyoming/info.py
 */
export function wyomingInfo(data: Readonly<Record<string, unknown>>): WyomingInfo {
  const recognizers = installed(data.asr);
  const synthesizers = installed(data.tts);
  return {
    models: recognizers.length === 0 ? null : artifactsIn(recognizers, 'models'),
    voices: synthesizers.length === 0 ? null : artifactsIn(synthesizers, 'voices'),
    takesTextStream:
      synthesizers.length > 0 &&
      synthesizers.every(({ supports_synthesize_streaming: takes }) => takes === true),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function artifactsIn(
  programs: readonly Fields[],
  list: 'models' | 'voices',
): readonly WyomingArtifact[] {
  return programs
    .flatMap((program) => installed(program[list]))
    .flatMap(({ name, languages, speakers }) => {
      const [own] = textsIn([name]);
      if (own === undefined) return [];
      const names = objectsIn(speakers).map((speaker) => speaker.name);
      return [{ name: own, languages: textsIn(languages), speakers: textsIn(names) }];
    });
}

function installed(list: unknown): readonly Fields[] {
  return objectsIn(list).filter((artifact) => artifact.installed !== false);
}

function objectsIn(list: unknown): readonly Fields[] {
  return entriesOf(list).filter(
    (entry): entry is Fields => typeof entry === 'object' && entry !== null,
  );
}

function textsIn(list: unknown): readonly string[] {
  return entriesOf(list).filter(
    (entry): entry is string => typeof entry === 'string' && entry !== '',
  );
}

function entriesOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list.slice(0, LIST_MAX) : [];
}

/**
 * One event.
 *
 *     {"type": "audio-chunk", "data": {...}, "data_length": n, "payload_length": m}\n
 *     n bytes: a JSON object, merged over the header's data
 *     m bytes: PCM
 *
 * @see README.md of OHF-Voice/wyoming, "Format"
 */
export interface WyomingEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly payload: Uint8Array;
}

/** A list of a thousand voices with their speakers takes some 200 kB. */
const JSON_BYTES_MAX = 1024 * 1024;

/** Some servers send the audio of a whole sentence in one event: 40 s at 48 kHz. */
const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Writes an event in the form that every version of the protocol reads. */
export function wyomingBytes(
  type: string,
  data: Readonly<Record<string, unknown>> = {},
  payload: Uint8Array = NOTHING,
): Buffer {
  const more = Object.keys(data).length === 0 ? NOTHING : Buffer.from(JSON.stringify(data));
  const header = {
    type,
    ...(more.length > 0 && { data_length: more.length }),
    ...(payload.length > 0 && { payload_length: payload.length }),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), more, payload]);
}

interface Header {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly dataBytes: number;
  readonly payloadBytes: number;
}

/** Takes the bytes of a connection, however they are cut. Keeps state: use one instance a connection. */
export class WyomingReader {
  /** Start of a header line that is not whole yet. */
  #line: Buffer = NOTHING;
  #header: Header | null = null;
  /** Data and payload after the header, as far as they are there. */
  #body: Buffer = NOTHING;
  #bodyBytes = 0;

  /** @returns the events that are whole now. @throws {Error} when the bytes are no events, or exceed a limit. */
  push(bytes: Uint8Array): readonly WyomingEvent[] {
    const events: WyomingEvent[] = [];
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    while (rest.length > 0) {
      rest = this.#header === null ? this.#takeLine(rest) : this.#takeBody(rest);
      if (this.#header === null || this.#bodyBytes < this.#body.length) continue;
      events.push(eventOf(this.#header, this.#body));
      this.#header = null;
    }
    return events;
  }

  #takeLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(NEWLINE);
    const part = end < 0 ? bytes : bytes.subarray(0, end);
    if (this.#line.length + part.length > JSON_BYTES_MAX)
      throw new Error('it sent an endless line');
    this.#line = Buffer.concat([this.#line, part]);
    if (end < 0) return NOTHING;
    this.#header = headerOf(this.#line);
    this.#line = NOTHING;
    this.#body = Buffer.alloc(this.#header.dataBytes + this.#header.payloadBytes);
    this.#bodyBytes = 0;
    return bytes.subarray(end + 1);
  }

  #takeBody(bytes: Buffer): Buffer {
    const taken = bytes.copy(this.#body, this.#bodyBytes);
    this.#bodyBytes += taken;
    return bytes.subarray(taken);
  }
}

function headerOf(line: Buffer): Header {
  const { type, data, data_length: dataLength, payload_length: payloadLength } = objectIn(line);
  if (typeof type !== 'string') throw new Error('it sent an event without a type');
  return {
    type,
    data: isObject(data) ? data : {},
    dataBytes: lengthOf(dataLength, JSON_BYTES_MAX),
    payloadBytes: lengthOf(payloadLength, PAYLOAD_BYTES_MAX),
  };
}

function eventOf({ type, data, dataBytes }: Header, body: Buffer): WyomingEvent {
  const more = dataBytes === 0 ? {} : objectIn(body.subarray(0, dataBytes));
  return { type, data: { ...data, ...more }, payload: body.subarray(dataBytes) };
}

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new Error('it does not speak the Wyoming protocol', { cause: error });
  }
  if (isObject(value)) return value;
  throw new Error('it does not speak the Wyoming protocol');
}

/** Absent and null mean none. */
function lengthOf(value: unknown, max: number): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) {
    return value;
  }
  throw new Error('it sent an event of an impossible length');
}
