/** What an operator sees of a start: on a terminal, in a log that programs read, and with settings of the first start. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { childrenOf } from '../../support/server/processes.ts';
import { describeWith } from '../../support/server/programs.ts';
import {
  buildServer,
  LIVE_KEY,
  startServer,
  TEST_KEY,
  type TestServer,
} from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NODE = join(ROOT, 'node_modules/.bin/node');

const NUMBER = '+12025550123';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const readyzOf = async (port: number) => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'offhook-start-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A server of this folder that has told all of its start. */
async function started(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const server = await startServer({ dataDir, environment });
  onTestFinished(() => server.stop());
  await server.ready();
  await expect.poll(() => server.output, { timeout: 10_000 }).toContain('has no password yet');
  return server;
}

interface OnTerminal {
  readonly child: ReturnType<typeof spawn>;
  /** Text that the terminal has shown. */
  readonly output: () => string;
  readonly port: number;
  readonly sipPort: number;
}

/** A server on a terminal of its own, which has printed all of its start. */
async function startedOnTerminal(): Promise<OnTerminal> {
  const [port, sipPort] = [await freePort(), await freePort()];
  await buildServer();
  const child = spawn('script', ['-qefc', `exec ${NODE} dist/server/main.js`, '/dev/null'], {
    cwd: ROOT,
    env: {
      ...{ PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm', DATA_DIR: folder() },
      ...{ PORT: String(port), SIP_PORT: String(sipPort), OLLAMA_HOST: 'http://127.0.0.1:9' },
      BOOTSTRAP_LIVE_KEY: LIVE_KEY,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  await expect.poll(() => output, { timeout: 20_000 }).toContain('token=');
  await expect.poll(() => output, { timeout: 5000 }).toContain('└');
  return { child, output: () => output, port, sipPort };
}

describeWith(['script'], 'a start on a terminal', () => {
  test('is told in text: no JSON, each engine once, nothing empty, the link last', async () => {
    const { child, output } = await startedOnTerminal();
    const exited = new Promise((resolve) => child.on('exit', resolve));
    child.stdin?.write('\u0003');
    await exited;

    const lines = stripVTControlCharacters(output()).split(/\r?\n/);
    const saying = (text: string) => lines.filter((line) => line.includes(text));
    expect(lines.filter((line) => line.startsWith('{'))).toEqual([]);
    expect(lines.filter((line) => /listening on\s*$/.test(line))).toEqual([]);
    expect(saying('scripted/')).toHaveLength(1);
    expect(saying('Understands a closed set of phrases only')).toHaveLength(1);
    expect(saying('no password yet')).toHaveLength(1);
    expect(lines.findIndex((line) => line.includes('no password yet'))).toBeGreaterThan(
      lines.findIndex((line) => line.includes('npm run models')),
    );
    expect(output()).toContain('\u001b[33m');
  });

  test('when the terminal is closed, the server takes no new calls and ends after the last one', async () => {
    const { child, port, sipPort } = await startedOnTerminal();
    const [{ pid } = { pid: 0 }] = childrenOf(child.pid ?? 0);
    const made = await fetch(`http://127.0.0.1:${port}/api/agents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'Desk',
        greeting: 'Hi.',
        systemPrompt: 'Hi.',
        phoneNumber: NUMBER,
      }),
    });
    const uri = `sip:${NUMBER}@127.0.0.1:${sipPort}`;
    const phone = new Phone();
    await phone.start();
    onTestFinished(() => phone.stop());
    const call = await phone.call(uri);

    child.kill('SIGKILL');
    await expect.poll(() => readyzOf(port), { timeout: 10_000 }).toBe(503);
    const late = phone.call(uri);
    await expect(late).rejects.toMatchObject({ sipStatus: 503 });
    const wasThere = existsSync(`/proc/${pid}`);
    await call.hangUp();

    expect([made.status, wasThere]).toEqual([201, true]);
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 10_000 }).toBe(false);
  });
});

test('a hangup does not stop a server without a terminal, as under nohup', async () => {
  const server = await started(folder());

  server.kill('SIGHUP');

  await expect.poll(() => server.output).toContain('a hangup does not stop the server');
  expect((await server.api('GET', '/api/agents')).status).toBe(200);
});

test('elsewhere each line is a JSON object, with the keys, the engines, the address and the link', async () => {
  const server = await started(folder(), { BOOTSTRAP_LIVE_KEY: '', BOOTSTRAP_TEST_KEY: '' });

  const lines = server.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

  const saying = (text: string) => lines.filter(({ msg }) => msg.startsWith(text));
  expect(saying('First start')).toMatchObject([
    {
      liveKey: expect.stringMatching(/^svc_live_\w{32}$/),
      testKey: expect.stringMatching(/^svc_test_\w{32}$/),
      signingSecretLive: expect.stringMatching(/^whsec_/),
      signingSecretTest: expect.stringMatching(/^whsec_/),
    },
  ]);
  expect(saying('engine chosen').map(({ job }) => job)).toEqual([
    'vad',
    'stt',
    'turn',
    'tts',
    'llm',
  ]);
  expect(saying('Offhook is ready')).toMatchObject([{ listening: server.baseUrl.slice(7) }]);
  expect(saying('The dashboard has no password yet')[0].msg).toMatch(/#\/setup\?token=[\w-]{43} /);
});

test('LOG_FORMAT=pretty tells it in text without colours where there is no terminal', async () => {
  const server = await started(folder(), { LOG_FORMAT: 'pretty' });

  expect(server.output).toMatch(/^Offhook is ready\.$/m);
  expect(server.output).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}no SIP trunk is set up/m);
  expect(server.output).not.toContain('\u001b');
  expect(server.output).not.toMatch(/^\{/m);
});

test('a first start shows no key or secret that it was given, by value or by file', async () => {
  const dataDir = folder();
  const file = join(dataDir, 'secret');
  writeFileSync(file, `${SECRET}\n`);

  const server = await started(dataDir, { WEBHOOK_SIGNING_SECRET_FILE: file });

  expect(server.output).toContain('as given in BOOTSTRAP_LIVE_KEY');
  expect(server.output).toContain('as given in BOOTSTRAP_TEST_KEY');
  expect(server.output).toContain('as given in WEBHOOK_SIGNING_SECRET');
  for (const given of [LIVE_KEY, TEST_KEY, SECRET]) expect(server.output).not.toContain(given);
});

test('a later start says which settings of the first one have no effect, without their values', async () => {
  const dataDir = folder();
  const first = await started(dataDir);
  await first.stop();
  const other = `svc_live_${'x'.repeat(32)}`;

  const second = await started(dataDir, {
    BOOTSTRAP_LIVE_KEY: other,
    WEBHOOK_SIGNING_SECRET: 'too short, and nothing is made of it',
  });

  const told = second.output.split('\n').filter((line) => line.includes('setting has no effect'));
  expect(told).toHaveLength(2);
  expect(told[0]).toContain('"setting":"BOOTSTRAP_LIVE_KEY"');
  expect(told[1]).toContain('"setting":"WEBHOOK_SIGNING_SECRET"');
  expect(second.output).not.toContain(other);
  expect(first.output).not.toContain('setting has no effect');
});

test.each([
  'not a secret of Standard Webhooks',
  'whsec_not Base64 at all!',
  'whsec_c2hvcnQ=',
])('a first start with the signing secret "%s" ends with 78 and says what is expected', async (secret) => {
  const server = await startServer({
    dataDir: folder(),
    environment: { WEBHOOK_SIGNING_SECRET: secret },
  });
  onTestFinished(() => server.stop());

  await expect(server.exited).resolves.toBe(78);
  expect(server.output).toContain('WEBHOOK_SIGNING_SECRET: expected whsec_ and at least 16 bytes');
  expect(server.output).not.toContain(secret);
});

test('a system without ONNX Runtime and koffi has a server all the same, which says so', async () => {
  const missing = join(ROOT, 'test/support/server/without-programs.ts');
  const server = await started(folder(), { NODE_OPTIONS: `--import=${missing}` });

  const response = await fetch(`${server.baseUrl}/readyz`);
  const { engines } = (await response.json()) as {
    readonly engines: readonly Readonly<Record<string, unknown>>[];
  };
  const stt = engines.find(({ job }) => job === 'stt');
  expect(stt).toMatchObject({ engine: 'none', isFallback: true });
  expect(JSON.stringify(stt)).toContain('ONNX Runtime does not load on');
  expect(engines.find(({ job }) => job === 'vad')).toMatchObject({ engine: 'energy' });
  expect(server.output).toContain('no koffi for this system');
});
