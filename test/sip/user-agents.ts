/** Two user agents of ours that talk over real sockets of this machine, for tests of whole calls. */

import type { SipMessage } from '../../src/sip/message/message.ts';
import type { BaseTimers } from '../../src/sip/transaction/timers.ts';
import type { ListenProtocol } from '../../src/sip/transport/flow.ts';
import { type OpenUdpSocket, openUdpSocket } from '../../src/sip/transport/transport-udp.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import type { UserAgentOptions } from '../../src/sip/user-agent-options.ts';

/** So short that even lost packets and time-outs take no more than a second or two. */
export const SHORT_TIMERS: BaseTimers = { t1Ms: 20, t2Ms: 80, t4Ms: 100 };

/** Slightly more than their 64*T1, after which every transaction is over. */
export const ALL_OVER_MS = 64 * SHORT_TIMERS.t1Ms + 200;

export interface Pair {
  /** Calls. */
  readonly alice: UserAgent;
  /** Is called. */
  readonly bob: UserAgent;
  /** What to call. */
  readonly bobUri: string;
}

type PartOptions = Partial<UserAgentOptions>;

/** Starts both; `parts` are options of either. */
export async function startPair(
  protocol: ListenProtocol = 'UDP',
  parts: { readonly alice?: PartOptions; readonly bob?: PartOptions } = {},
): Promise<Pair> {
  const listen = [{ protocol, address: '127.0.0.1', port: 0 }];
  const alice = new UserAgent({ listen, timers: SHORT_TIMERS, ...parts.alice });
  const bob = new UserAgent({ listen, timers: SHORT_TIMERS, ...parts.bob });
  await Promise.all([alice.start(), bob.start()]);
  return { alice, bob, bobUri: uriOf(bob, protocol) };
}

export async function stopPair({ alice, bob }: Pair): Promise<void> {
  await Promise.all([alice.stop(), bob.stop()]);
}

export function uriOf(userAgent: UserAgent, protocol: ListenProtocol): string {
  const address = userAgent.addresses.find((each) => each.protocol === protocol);
  const transport = protocol === 'UDP' ? '' : `;transport=${protocol.toLowerCase()}`;
  return `sip:bob@127.0.0.1:${address?.port}${transport}`;
}

/** The next event of that name, as an array of what it carries. */
export function next<T extends unknown[]>(
  emitter: { once(name: string, listener: (...values: T) => void): unknown },
  name: string,
): Promise<T> {
  return new Promise((resolve) => emitter.once(name, (...values: T) => resolve(values)));
}

/** Opens sockets that lose what `isLost` says. */
export function losingSocket(isLost: (bytes: Buffer) => boolean): OpenUdpSocket {
  return (address) => {
    const socket = openUdpSocket(address);
    const send = socket.send.bind(socket);
    socket.send = (bytes, port, host, sent) => {
      if (!isLost(bytes)) send(bytes, port, host, sent);
    };
    return socket;
  };
}

/** Chance that is the same in every run: a linear congruential generator. */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Waits until it holds; throws when it does not within five seconds. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const untilMs = performance.now() + 5000;
  while (!holds()) {
    if (performance.now() > untilMs) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function kindOf(message: SipMessage): string {
  return message.method || String(message.status);
}
