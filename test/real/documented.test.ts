/** Every command that the operator's pages, units and compose file have for drachtio-server and FreeSWITCH starts it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { whyNoNatNetwork } from '../support/network/nat-network.ts';
import { NetworkNamespace } from '../support/network/network-namespace.ts';
import { commandOf, commandsIn } from '../support/server/documented-commands.ts';
import { DocumentedServers } from './documented-servers.ts';
import { findPrograms } from './real-processes.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['sip-config/README.md', 'docs/drachtio.md', 'docs/deploy.md'];

const SERVERS = ['drachtio', 'freeswitch'];
/** Where units and containers have what is in the checkout on a page. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/\/opt\/offhook\/|\/usr\/local\/bin\/|\/opt\/freeswitch\/bin\//g, ''],
  [/\/etc\/freeswitch/g, 'sip-config/freeswitch'],
  [/\/etc\/drachtio/g, 'sip-config/drachtio'],
  [/\/(var\/lib|var\/log|run)\/freeswitch/g, 'data/freeswitch'],
];
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const commands = PAGES.flatMap((page) => commandsIn(read(page)));
const shown = commands.filter(({ program }) => SERVERS.includes(program));
const starts = [...shown, ...SERVERS.flatMap((name) => [unitsStart(name), composesStart(name)])];

function unitsStart(name: string) {
  const [, line = ''] = /^ExecStart=(.*)$/m.exec(read(`examples/systemd/${name}.service`)) ?? [];
  return commandOf(inCheckout(line));
}

function composesStart(name: string) {
  const { services } = parse(read('docker-compose.yml'), { merge: true });
  const [, line = ''] = /exec (.*)$/.exec(services[name].entrypoint.at(-1)) ?? [];
  return commandOf(inCheckout(line));
}

function inCheckout(line: string): string {
  return PLACES.reduce((text, [place, here]) => text.replace(place, here), line);
}

const why = whyNoNatNetwork(['ss']);
if (why !== undefined) process.stderr.write(`skipped: ${why} (commands of the pages)\n`);
const programs = findPrograms('commands of the pages');

describe.skipIf(programs === undefined || why !== undefined)('the pages', () => {
  test('show how to start both servers', () => {
    expect(new Set(shown.map(({ program }) => program))).toEqual(new Set(SERVERS));
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
