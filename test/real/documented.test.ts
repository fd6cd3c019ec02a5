/** Every command that the operator's pages show for drachtio-server and FreeSWITCH starts it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandsIn } from '../support/documented-commands.ts';
import { whyNoNatNetwork } from '../support/nat-network.ts';
import { NetworkNamespace } from '../support/network-namespace.ts';
import { DocumentedServers } from './documented-servers.ts';
import { findPrograms } from './real-processes.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['sip-config/README.md', 'docs/drachtio.md', 'docs/deploy.md'];

const commands = PAGES.flatMap((page) => commandsIn(readFileSync(join(ROOT, page), 'utf8')));
const starts = commands.filter(({ program }) => ['drachtio', 'freeswitch'].includes(program));

const why = whyNoNatNetwork(['ss']);
if (why !== undefined) process.stderr.write(`skipped: ${why} (commands of the pages)\n`);
const programs = findPrograms('commands of the pages');

describe.skipIf(programs === undefined || why !== undefined)('the pages', () => {
  test('show how to start both servers', () => {
    const shown = new Set(starts.map(({ program }) => program));

    expect([...shown].sort()).toEqual(['drachtio', 'freeswitch']);
  });

  test.each(starts)('"$text" starts $program', async (command) => {
    if (programs === undefined) return;
    const namespace = new NetworkNamespace('documented');
    onTestFinished(() => namespace.close());
    namespace.run('ip', 'address', 'add', '10.0.0.5/24', 'dev', 'lo');
    const servers = new DocumentedServers(namespace, programs);
    onTestFinished(() => servers.close());
    const folders = commands.filter(({ program }) => program === 'mkdir');

    await servers.run([...folders, command]);
  });
});
