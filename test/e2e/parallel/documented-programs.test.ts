/** What the pages have for a receiver, a telephone and a carrier works as it stands, with ports of the test's own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { codeBlocksOf, PAGES } from '../../docs/code-blocks.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { commandOf } from '../../support/server/documented-commands.ts';
import { describeWith } from '../../support/server/programs.ts';
import { LIVE_KEY, startServer, type TestServer } from '../../support/server/server.ts';
import { type ScriptedCarrier, startCarrier } from '../../support/sip/scripted-carrier.ts';
import {
  engineOf,
  speechServer,
  startOffhook,
  stopAll,
  wyomingServer,
} from '../../support/speech/speech-server-calls.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TUTORIAL_NUMBER = '+12025550143';
const CARRIER_NUMBER = '+390687654321';
const CALLED_NUMBER = '+390612345678';

const blocks = (tag: string) =>
  PAGES.flatMap(codeBlocksOf)
    .filter((block) => block.tag === tag)
    .map(({ page, text }) => [page, text] as const);

/** Starts a block in a folder of its own as home; it ends with the test. */
function startBlock(text: string, environment: Readonly<Record<string, string>> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'offhook-documented-'));
  // Not the configuration of the user who runs the test.
  const baresip = `#!/bin/sh\nexec /usr/bin/baresip -f "${home}/settings" "$@"\n`;
  writeFileSync(join(home, 'baresip'), baresip, { mode: 0o755 });
  const path = `${home}:${join(ROOT, 'node_modules/.bin')}:/usr/local/bin:/usr/bin:/bin`;
  const env = { PATH: path, HOME: home, ...environment };
  const child = spawn('sh', ['-euc', text], { cwd: ROOT, env, detached: true });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output.text += chunk.toString();
    });
  }
  onTestFinished(async () => {
    await endGroup(child);
    rmSync(home, { recursive: true, force: true });
  });
  return { child, output };
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  process.kill(-child.pid, 'SIGKILL');
  await once(child, 'close');
}

test.each(
  blocks('sh receiver'),
)('%s: a receiver prints what it is asked, and answers: %s', async (_, text) => {
  const port = await freePort();
  const [, asWritten = ''] = /\.listen\((\d+)/.exec(text) ?? [];
  const { output } = startBlock(text.replace(asWritten, String(port)));
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/orders/A-1047`, { method: 'POST', body: 'hello' }).catch(
      () => undefined,
    );

  await expect.poll(async () => (await ask())?.status, { timeout: 20_000 }).toBe(200);

  const answer: unknown = await (await ask())?.json();
  expect(typeof answer).toBe('object');
  await expect.poll(() => output.text).toMatch(/hello|POST \/orders\/A-1047/);
});

describe('speech servers', () => {
  afterEach(stopAll);

  test.each(blocks('sh speech'))('%s: %s', async (_, text) => {
    const [recognizer, voices] = [await speechServer(), await wyomingServer()];
    const typed = text
      .replaceAll(/\\\n\s*/g, '')
      .replace('http://10.0.0.5:8000', recognizer.address)
      .replace('tcp://10.0.0.6:10200', voices.address);
    const { environment, text: command } = commandOf(typed.trim());
    const server = await startOffhook(environment);

    expect(command).toBe('npm start');
    const engines = async () => [await engineOf(server, 'stt'), await engineOf(server, 'tts')];
    await expect.poll(engines, { timeout: 20_000 }).toMatchObject([
      { engine: 'openai', state: 'ready' },
      { engine: 'wyoming', state: 'ready' },
    ]);
  });
});

describeWith(['baresip', 'curl'], 'telephone and carrier', () => {
  const shown = blocks('sh carrier');
  let server: TestServer;
  let carrier: ScriptedCarrier;
  let agent: string;

  beforeAll(async () => {
    carrier = await startCarrier(({ method }) =>
      method === 'OPTIONS' ? { status: 200, headers: { Accept: 'application/sdp' } } : undefined,
    );
    server = await (await startServer()).ready();
    agent = await server.createAgent({ phoneNumber: CARRIER_NUMBER });
    await server.createAgent({ phoneNumber: TUTORIAL_NUMBER });
  });
  afterAll(async () => {
    await server?.stop();
    await carrier?.stop();
  });

  // Before there is a trunk: the page says that calls of this machine are taken then.
  test.each(shown.filter(([, text]) => text.startsWith('baresip')))('%s: %s', async (_, text) => {
    const { child, output } = startBlock(text.replace('5060', String(server.sipPort)));
    // Where there is no sound card, baresip hangs up at once.
    const seen = async () => ({
      calls: (await server.api('GET', '/api/calls?limit=100')).body.data,
      printed: output.text,
    });

    await expect
      .poll(seen, { timeout: 20_000 })
      .toMatchObject({ calls: [{ direction: 'inbound', to: TUTORIAL_NUMBER }] });

    await endGroup(child);
  });

  test('the trunk of the pages is set up', async () => {
    const { status } = await server.api('POST', '/api/trunks', {
      name: 'carrier-by-address',
      proxy: carrier.hostPort,
      numbers: [CARRIER_NUMBER],
      allowedSources: ['127.0.0.1'],
    });

    expect(status).toBe(201);
  });

  test.each(shown.filter(([, text]) => !text.startsWith('baresip')))('%s: %s', async (_, text) => {
    const typed = text
      .replace('agent_…', agent)
      .replace('+39…', CALLED_NUMBER)
      .replace('NAME', 'carrier-by-address');
    const { child, output } = startBlock(typed.replaceAll('curl ', 'curl -sf '), {
      ...{ DATA_DIR: server.dataDir, URL: server.baseUrl },
      ...{ KEY: LIVE_KEY, ADMIN_KEY: LIVE_KEY },
    });
    const [status] = await once(child, 'close');

    expect(status, output.text).toBe(0);
    const rings = () => carrier.of('INVITE').map(({ uri }) => uri);
    if (!text.includes('outbound')) expect(output.text).toMatch(/"ok":true|options/);
    else await expect.poll(rings).toContain(`sip:${CALLED_NUMBER}@${carrier.hostPort}`);
  });
});
