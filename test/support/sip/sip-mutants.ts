/** Broken SIP by the thousand, the same for the same seed: mutants of the RFC 4475 messages. */
import { readdirSync, readFileSync } from 'node:fs';
import {
  BadMessageError,
  makeResponse,
  type SipMessage,
} from '../../../src/sip/message/message.ts';
import { faultOf } from '../../../src/sip/message/status.ts';
import { parseMessage } from '../../../src/sip/parser/parser.ts';
import { checkRequest } from '../../../src/sip/parser/request-check.ts';
import { cpuMs, fastestCpuMs } from '../time/cpu-time.ts';

const FOLDER = 'test/fixtures/rfc4475';

/** Pieces that parsers stumble over. */
const POISON = [
  '"',
  '\\',
  '<',
  '>',
  ',',
  ';',
  ';;',
  '=',
  ':',
  '@',
  '%',
  '%00',
  '?',
  '[',
  ']',
  '[::1]',
  '\r',
  '\n',
  '\r\n',
  '\r\n ',
  '\r\n\r\n',
  '\0',
  '\xff',
  '\t',
  ' ',
  '*',
  '-1',
  '99999999999999999999',
  'z9hG4bK',
  'SIP/2.0',
  'sip:',
  'tag=',
  'Content-Length: 7\r\n',
  'Via: ',
  '\r\nl: 0\r\n',
].map((text) => Buffer.from(text, 'latin1'));

export interface FuzzReport {
  readonly count: number;
  accepted: number;
  refused: number;
  dropped: number;
  /** Processor time. */
  slowestMs: number;
}

/** The unbroken messages that mutants are made of. */
export function mutantSeeds(): Buffer[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.dat'));
  return files.sort().map((file) => readFileSync(`${FOLDER}/${file}`));
}

/** A source of numbers from 0 up to, not including, 1; the same for the same seed (mulberry32). */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Parses `count` mutants, and takes what comes out through everything that reads it.
 *
 * @throws whatever the parser throws that it may not, and an Error for a message that changes on
 * its way through `toBuffer`.
 */
export function fuzz(options: { count: number; seed: number }): FuzzReport {
  const { count } = options;
  const report = { count, accepted: 0, refused: 0, dropped: 0, slowestMs: 0 };
  for (const octets of mutants(options)) tryOne(octets, report);
  return report;
}

/** So many mutants of the RFC 4475 messages; the same for the same seed. */
export function* mutants(options: { count: number; seed: number }): Generator<Buffer> {
  const chance = seededChance(options.seed);
  const seeds = mutantSeeds();
  for (let left = options.count; left > 0; left--) yield mutant(seeds, chance);
}

function tryOne(octets: Buffer, report: FuzzReport): void {
  const startedAtMs = cpuMs();
  let message: SipMessage | undefined;
  let error: unknown;
  try {
    message = parseMessage(octets);
  } catch (caught) {
    error = caught;
  }
  const tookMs = cpuMs() - startedAtMs;
  if (tookMs > report.slowestMs) {
    // A pause of the machine, or of the garbage collector, is not the parser's.
    const againMs = fastestCpuMs(() => faultOf(() => parseMessage(octets)));
    report.slowestMs = Math.max(report.slowestMs, Math.min(tookMs, againMs));
  }

  if (message !== undefined) {
    report.accepted++;
    useMessage(message);
  } else if (!(error instanceof BadMessageError)) throw error;
  else if (error.status === 0 || error.sipMessage === undefined) report.dropped++;
  else {
    report.refused++;
    makeResponse(error.sipMessage, error.status, error.message, 'tag').toBuffer();
  }
}

/** Reads all that a message promises to be readable, and writes and reads it again. */
function useMessage(message: SipMessage): void {
  void [message.via, message.from, message.to, message.cseq, message.contact, message.toTag];
  if (message.isRequest) {
    checkRequest(message);
    makeResponse(message, 200, undefined, 'tag').toBuffer();
  }
  const again = parseMessage(message.toBuffer());
  if (wireText(again) !== wireText(message)) {
    throw new Error(`Cannot re-serialise message "${wireText(message)}": it reads back otherwise`);
  }
}

function wireText(message: SipMessage): string {
  const { method, uri, status, reason, body } = message;
  const headers = message.headers.filter(([name]) => name !== 'content-length');
  return JSON.stringify([method, uri, status, reason, headers, body.toString('latin1')]);
}

function mutant(seeds: readonly Buffer[], chance: () => number): Buffer {
  const below = (limit: number) => Math.floor(chance() * limit);
  const any = () => seeds[below(seeds.length)] ?? Buffer.alloc(0);
  let octets = any();
  for (let left = 1 + below(4); left > 0; left--) octets = mutate(octets, any(), below);
  return octets;
}

function mutate(octets: Buffer, other: Buffer, below: (limit: number) => number): Buffer {
  const at = below(octets.length + 1);
  const end = Math.min(octets.length, at + 1 + below(40));
  const [head, middle, tail] = [
    octets.subarray(0, at),
    octets.subarray(at, end),
    octets.subarray(end),
  ];
  switch (below(8)) {
    case 0:
      return Buffer.concat([head, tail]);
    case 1:
      return Buffer.concat([head, middle, middle, tail]);
    case 2:
      return Buffer.concat([head, POISON[below(POISON.length)] ?? head, middle, tail]);
    case 3:
      return Buffer.concat([head, Buffer.from([below(256)]), middle.subarray(1), tail]);
    case 4:
      return head;
    case 5:
      return Buffer.concat([head, other.subarray(below(other.length))]);
    case 6:
      return Buffer.concat([head, Buffer.alloc(below(3000), octets[at] ?? 0), tail]);
    default:
      return Buffer.concat([head, Buffer.from([(octets[at] ?? 0) ^ (1 << below(8))]), tail]);
  }
}
