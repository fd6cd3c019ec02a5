/** Messages for tests of the engine, whole and plain, and what takes them: so that a test names only what matters to it. */

import type { Clock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { EngineStats } from '../../src/sip/engine-stats.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import { STANDARD_TIMERS, type TransactionContext } from '../../src/sip/transaction/timers.ts';
import type { Endpoint, Flow } from '../../src/sip/transport/flow.ts';

export const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 40000 RTP/AVP 0',
  '',
].join('\r\n');

/** A request as if it had been received; `headers` are added to or replace the usual ones. */
export function request(
  method: string,
  headers: Readonly<Record<string, string>> = {},
  uri = 'sip:agent@192.0.2.2',
): SipMessage {
  const all: Record<string, string> = {
    Via: 'SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKone;rport',
    'Max-Forwards': '70',
    From: '<sip:caller@192.0.2.1>;tag=from',
    To: '<sip:agent@192.0.2.2>',
    'Call-ID': 'call-1',
    CSeq: `1 ${method}`,
    Contact: '<sip:caller@192.0.2.1:5060>',
    ...headers,
  };
  return parsed(`${method} ${uri} SIP/2.0`, all);
}

/** A response to a request of ours, as if it had been received. */
export function responseTo(
  sent: SipMessage,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): SipMessage {
  const to = sent.get('to') ?? '';
  const all: Record<string, string> = {
    Via: sent.get('via') ?? '',
    From: sent.get('from') ?? '',
    To: status === 100 || to.includes('tag=') ? to : `${to};tag=to`,
    'Call-ID': sent.callId,
    CSeq: sent.get('cseq') ?? '',
    ...headers,
  };
  return parsed(`SIP/2.0 ${status} Whatever`, all);
}

function parsed(startLine: string, headers: Readonly<Record<string, string>>): SipMessage {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return parseMessage(Buffer.from([startLine, ...lines, 'Content-Length: 0', '', ''].join('\r\n')));
}

/** What transactions are given, all their waits on that clock. */
export function transactionContext(clock: Clock): TransactionContext {
  return {
    clock,
    timers: STANDARD_TIMERS,
    stats: new EngineStats({ clock, logger: silentLogger }),
  };
}

/** A flow that keeps what is sent over it. */
export class FakeFlow implements Flow {
  readonly protocol: 'UDP' | 'TCP';
  readonly isReliable: boolean;
  readonly remote: Endpoint = { address: '192.0.2.1', port: 5060 };
  readonly local: Endpoint = { address: '192.0.2.2', port: 5060 };
  readonly sent: SipMessage[] = [];
  readonly #listeners = new Set<() => void>();
  isOpen = true;

  constructor(protocol: 'UDP' | 'TCP' = 'UDP') {
    this.protocol = protocol;
    this.isReliable = protocol === 'TCP';
  }

  /** Start of each message sent: `INVITE`, `180`. */
  get sentKinds(): string[] {
    return this.sent.map(({ method, status }) => method || String(status));
  }

  send(bytes: Buffer): void {
    this.sent.push(parseMessage(bytes));
  }

  /** How often keep-alive was sent. */
  keepAlives = 0;

  keepAlive(): void {
    this.keepAlives += 1;
  }

  onClosed(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.isOpen = false;
    for (const listener of [...this.#listeners]) listener();
  }
}
