/** A whole server with its models in place sends nothing to the outside: no download, no name, no greeting home. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * A network of its own whose way out leads nowhere: whatever would leave is counted on its way, and goes into a cable
 * that ends at itself. Names are asked for at an address out there. What the kernel itself says over IPv6 is not counted.
 */
const BEHIND_THE_GAP = `
set -e
ip link set lo up
ip link add out0 type veth peer name end0
ip link set out0 arp off
ip link set end0 up
ip link set out0 up
ip address add 10.99.0.2/24 dev out0
ip route add default dev out0
ip -6 route add default dev out0 || true
nft add table inet gap
nft 'add chain inet gap out { type filter hook output priority 0; }'
nft 'add rule inet gap out oifname "lo" accept'
nft 'add rule inet gap out meta l4proto ipv6-icmp accept'
nft 'add set inet gap targets { type ipv4_addr . inet_proto . inet_service; flags dynamic; }'
nft 'add rule inet gap out add @targets { ip daddr . meta l4proto . th dport }'
nft 'add rule inet gap out counter'
mount --bind "$1" /etc/resolv.conf
shift
exec "$@"
`;

/** The arguments of `unshare` that run a program there. */
const behindTheGap = (resolver: string, ...program: readonly string[]) => [
  '-n',
  '-m',
  'sh',
  '-c',
  BEHIND_THE_GAP,
  'sh',
  resolver,
  ...program,
];

test('a server with its models in place sends no packet to the outside, whatever happens on its calls', async ({
  skip,
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-gap-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const resolver = join(folder, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 192.0.2.53\noptions timeout:1 attempts:1\n');
  const tried = spawnSync('unshare', behindTheGap(resolver, 'true'), { stdio: 'ignore' });
  if (tried.status !== 0) {
    const needs = 'needs unshare, ip and nft, and the right to use them';
    process.stderr.write(`skipped: ${needs}\n`);
    skip(needs);
  }
  const program = ['node_modules/.bin/node', 'test/support/network/air-gap.ts'];

  const { stdout } = await promisify(execFile)('unshare', behindTheGap(resolver, ...program), {
    cwd: ROOT,
  });

  const { roles, endReason, events, packets, control, targets } = JSON.parse(stdout);
  expect(roles.slice(0, 3)).toEqual(['agent', 'user', 'agent']);
  expect(endReason).toBe('user_hangup');
  expect(events).toEqual(expect.arrayContaining(['call.started', 'call.ended']));
  expect(packets, targets).toBe(0);
  expect(control).toBeGreaterThan(0);
});
