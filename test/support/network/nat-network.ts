/**
 * Two networks with an address translator between, as `docs/deploy.md` sets it up, out of network namespaces:
 *
 *     server 10.0.0.5 ──┐
 *                       ├── 10.0.0.1 router 203.0.113.10, .11 ── outside 203.0.113.100, .101, .102
 *     phone 10.0.0.77 ──┘
 *
 * No route leads to 10.0.0.0/24 from outside: packets to it are rejected.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram } from '../server/programs.ts';
import { NetworkNamespace } from './network-namespace.ts';

const DEPLOY = join(import.meta.dirname, '../../../docs/deploy.md');

export const SERVER = '10.0.0.5';
export const LAN_PHONE = '10.0.0.77';
export const PUBLIC = '203.0.113.10';
/** A second address of the router, for a trunk that has its own. */
export const SECOND_PUBLIC = '203.0.113.11';
export const OUTSIDE = ['203.0.113.100', '203.0.113.101', '203.0.113.102'] as const;

/** What a network needs of the system: a namespace, a cable, and the translation of addresses. */
const TRY_OUT = `
set -e
ip netns add "$1"
trap 'ip netns del "$1"' EXIT
ip -n "$1" link add try0 type veth peer name try1
ip netns exec "$1" nft 'table ip t { chain c { type nat hook postrouting priority srcnat; masquerade; }; }'
`;

/** Why there can be no such network here; undefined where there can. */
export function whyNoNatNetwork(programs: readonly string[] = []): string | undefined {
  const missing = ['ip', 'nft', ...programs].filter((program) => !hasProgram(program));
  if (missing.length > 0) return `needs ${missing.join(' and ')}`;
  const words = ['-c', TRY_OUT, 'sh', `offhook-${process.pid}-try`];
  const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
  const [why = ''] = stderr.split('\n');
  return status === 0 ? undefined : `needs network namespaces and the right to make them: ${why}`;
}

export class NatNetwork {
  readonly router = new NetworkNamespace('router');
  readonly server = new NetworkNamespace('server');
  readonly phone = new NetworkNamespace('phone');
  readonly outside = new NetworkNamespace('outside');

  /** @throws {Error} with what `ip` or `nft` said; then nothing is left behind. */
  static async open(): Promise<NatNetwork> {
    const network = new NatNetwork();
    try {
      network.#connect();
      return network;
    } catch (error) {
      await network.close();
      throw error;
    }
  }

  /** Takes the translator away: outside and inside reach each other by their own addresses. */
  route(): void {
    this.router.run('nft', 'flush', 'ruleset');
    this.outside.run('ip', 'route', 'add', '10.0.0.0/24', 'via', PUBLIC);
  }

  /** Gives the router another public address in place of all it had, as a provider does; what it had translated is forgotten. */
  movePublicAddress(address: string): void {
    this.router.run('ip', 'address', 'flush', 'dev', 'wan0');
    this.router.run('ip', 'address', 'add', `${address}/24`, 'dev', 'wan0');
  }

  /** Ends every program in it. Safe to call twice. */
  async close(): Promise<void> {
    const all = [this.server, this.phone, this.outside, this.router];
    await Promise.all(all.map((namespace) => namespace.close()));
  }

  #connect(): void {
    const { router } = this;
    router.run('ip', 'link', 'add', 'lan0', 'type', 'bridge');
    router.run('ip', 'address', 'add', '10.0.0.1/24', 'dev', 'lan0');
    router.run('ip', 'link', 'set', 'lan0', 'up');
    for (const [namespace, address] of [
      [this.server, SERVER],
      [this.phone, LAN_PHONE],
    ] as const) {
      const port = `lan-${address.split('.').at(-1)}`;
      this.#cable(port, namespace, [address]);
      router.run('ip', 'link', 'set', port, 'master', 'lan0');
      namespace.run('ip', 'route', 'add', 'default', 'via', '10.0.0.1');
    }
    this.#cable('wan0', this.outside, OUTSIDE);
    for (const address of [PUBLIC, SECOND_PUBLIC]) {
      router.run('ip', 'address', 'add', `${address}/24`, 'dev', 'wan0');
    }
    router.run('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    router.run('nft', rulesOfTheDocs());
  }

  /** From a port of the router to `eth0` of a namespace. */
  #cable(port: string, namespace: NetworkNamespace, addresses: readonly string[]): void {
    const { router } = this;
    const peer = ['peer', 'name', 'eth0', 'netns', namespace.name];
    router.run('ip', 'link', 'add', port, 'type', 'veth', ...peer);
    router.run('ip', 'link', 'set', port, 'up');
    namespace.run('ip', 'link', 'set', 'eth0', 'up');
    for (const address of addresses) {
      namespace.run('ip', 'address', 'add', `${address}/24`, 'dev', 'eth0');
    }
  }
}

/** What the operator's page says to load into the router. */
function rulesOfTheDocs(): string {
  const [, rules] = /```nft\n([\s\S]*?)```/.exec(readFileSync(DEPLOY, 'utf8')) ?? [];
  if (rules === undefined) throw new Error('Cannot find the rules of nft in docs/deploy.md');
  return rules;
}
