/** `admin doctor`: what it finds, and what it says to do. */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { completionScript } from '../src/cli/admin-program.ts';
import {
  addressFinding,
  answerFinding,
  nodeFinding,
  openFilesFinding,
  portFindings,
  serverFindings,
  settingFindings,
} from '../src/cli/doctor-checks.ts';
import { findingsText } from '../src/cli/doctor-finding.ts';
import { doubtfulSettings, readConfig } from '../src/config/config.ts';

const plain = (_colour: string, text: string) => text;

test('a variable that is nearly a setting is told, with the setting', () => {
  const findings = settingFindings([{ variable: 'MAX_CALL', nearest: 'MAX_CALLS' }], []);

  expect(findingsText(findings, plain)).toContain(
    'limited  settings  MAX_CALL has no effect: no setting has this name\n                   -> set MAX_CALLS instead',
  );
});

test('a secret that is given twice is told by its names, without its value', () => {
  const environment = { SECRETS_KEY: 'the-secret', SECRETS_KEY_FILE: '/run/secrets/key' };
  const warnings = doubtfulSettings(readConfig({}), environment);

  const text = findingsText(settingFindings([], warnings), plain);

  expect(text).toContain(
    'limited  settings  SECRETS_KEY is given twice: the variable is used, and the file is not read\n                   -> remove SECRETS_KEY or SECRETS_KEY_FILE',
  );
  expect(text).not.toContain('the-secret');
});

test('an old Node and a low limit of open files are wrong', () => {
  expect(nodeFinding('24.1.0').state).toBe('ok');
  expect(nodeFinding('22.9.0')).toMatchObject({ state: 'wrong', advice: expect.any(String) });
  const limits = (soft: string) =>
    `Max open files            ${soft}                 4096   files\n`;
  expect(openFilesFinding(200, limits('1024'))).toMatchObject({
    state: 'wrong',
    advice: expect.stringContaining('LimitNOFILE=1400'),
  });
  expect(openFilesFinding(100, limits('1024')).state).toBe('ok');
  expect(openFilesFinding(9000, limits('unlimited')).state).toBe('ok');
});

test.each([
  ['127.0.0.1', undefined, ['10.0.0.5'], 'limited', 'SIP_HOST=0.0.0.0'],
  ['0.0.0.0', undefined, ['10.0.0.5'], 'limited', 'PUBLIC_ADDRESS'],
  ['0.0.0.0', undefined, [], 'limited', 'PUBLIC_ADDRESS'],
  ['0.0.0.0', 'auto', ['10.0.0.5'], 'ok', undefined],
  ['0.0.0.0', undefined, ['10.0.0.5', '8.8.8.8'], 'ok', undefined],
] as const)('SIP_HOST=%s, PUBLIC_ADDRESS=%s on %j is %s', (SIP_HOST, PUBLIC_ADDRESS, own, state, advice) => {
  const finding = addressFinding({ SIP_HOST, PUBLIC_ADDRESS }, own);
  expect(finding.state).toBe(state);
  if (advice === undefined) expect(finding.advice).toBeUndefined();
  else expect(finding.advice).toContain(advice);
});

test('a port that another program has is named with its setting; an address that is not here too', async () => {
  const taken = createSocket('udp4');
  taken.bind(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;

  const config = readConfig({ SIP_PORT: String(port), HOST: '192.0.2.1' });
  const findings = await portFindings(config);

  const sip = findings.find(({ found }) => found.startsWith(`UDP 127.0.0.1:${port}`));
  expect(sip).toMatchObject({ state: 'wrong', advice: expect.stringContaining('change SIP_PORT') });
  expect(findings[0]).toMatchObject({
    check: 'HTTP port',
    state: 'wrong',
    advice: expect.stringContaining('no such address'),
  });
});

test('the report of a running server becomes findings: stand-ins are limited, failures wrong', () => {
  const engine = {
    reason: 'why',
    isFallback: true,
    standIn: 'rule_book',
    state: 'degraded',
  } as const;
  const findings = serverFindings({
    status: 'not_ready',
    engines: [
      {
        ...engine,
        job: 'llm',
        engine: 'scripted',
        limitation: 'Fixed rules',
        replacement: { engine: 'ollama', how: 'start it' },
      },
      {
        ...engine,
        job: 'tts',
        engine: 'kokoro',
        standIn: null,
        limitation: null,
        replacement: null,
        state: 'ready',
      },
    ],
    carriers: [
      { name: 'trunk acme', isReady: false, state: 'not registered: 401' },
      { name: 'drachtio 127.0.0.1:9022', isReady: false, state: 'does not answer' },
    ],
    checks: [{ name: 'database', isOk: true, state: 'can be written' }],
  });
  expect(findings.map(({ check, state }) => [check, state])).toEqual([
    ['server', 'wrong'],
    ['language model', 'limited'],
    ['voice', 'ok'],
    ['carrier trunk acme', 'wrong'],
    ['carrier drachtio 127.0.0.1:9022', 'wrong'],
    ['database', 'ok'],
  ]);
  expect(findings[3]?.advice).toBe('npm run admin -- trunk check acme');
  expect(findings[4]?.advice).toBeUndefined();
});

test('findings are shown one a line, what to do below, and summed up', () => {
  const text = findingsText(
    [
      { check: 'disk', state: 'ok', found: '9 MB free' },
      { check: 'SIP port', state: 'wrong', found: 'cannot be used', advice: 'change SIP_PORT' },
    ],
    plain,
  );
  expect(text).toBe(
    [
      'ok       disk      9 MB free',
      'WRONG    SIP port  cannot be used',
      '                   -> change SIP_PORT',
      '',
      '1 wrong, 0 limited.',
    ].join('\n'),
  );
});

test('the command looks at a machine before the first start, as JSON too, and makes nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const main = join(import.meta.dirname, '../src/main.ts');
  const settings = { ...env, DATA_DIR: join(folder, 'data'), LLM: 'scripted', PORT: '0' };
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'doctor', '--json'], {
    env: settings,
  });
  const { findings } = JSON.parse(stdout);
  const stateOf = (check: string) =>
    findings.find((finding: { readonly check: string }) => finding.check === check)?.state;
  expect(['database', 'language model', 'trunks'].map(stateOf)).toEqual([
    'ok',
    'limited',
    'limited',
  ]);
});

/** Ollama that lists the model `m` and answers each question with a status and a body. @returns its URL. */
async function serveOllama(status: number, body: object): Promise<string> {
  const server = createServer((request, response) => {
    const isQuestion = request.url === '/api/chat';
    response.writeHead(isQuestion ? status : 200, { 'content-type': 'application/x-ndjson' });
    response.end(JSON.stringify(isQuestion ? body : { models: [{ name: 'm:latest' }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  [
    500,
    { error: 'model requires more system memory' },
    'WRONG',
    'it answered 500: model requires more system memory',
  ],
  [200, { message: { role: 'assistant', content: 'Hi' } }, 'ok', 'ollama/m answers, the first'],
])('the command asks the language model a question: %s', async (status, body, state, found) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const main = join(import.meta.dirname, '../src/main.ts');
  const ollama = { LLM: 'ollama', OLLAMA_HOST: await serveOllama(status, body), OLLAMA_MODEL: 'm' };
  const settings = { ...env, ...ollama, DATA_DIR: join(folder, 'data'), PORT: '0' };
  // It exits with 1 where something is wrong.
  const run = promisify(execFile)(process.execPath, [main, 'doctor'], { env: settings });
  const { stdout } = await run.catch((error: { readonly stdout: string }) => error);

  expect(stdout).toMatch(new RegExp(`^${state} +language model .*${found}`, 'm'));
});

test.each([
  [1400, 'ok', undefined],
  [3400, 'limited', expect.stringContaining('a smaller model')],
])('a first word after %i ms is %s', (firstWordMs, state, advice) => {
  const report = { job: 'llm', engine: 'ollama/m', reason: '', isFallback: false } as const;

  const finding = answerFinding(report, firstWordMs);

  expect([finding.state, finding.advice]).toEqual([state, advice]);
  expect(finding.found).toBe(
    `ollama/m answers, the first word after ${(firstWordMs / 1000).toFixed(1)} s`,
  );
});

test('completions know each command; bash reads them', async () => {
  const next = { offhook: ['start', 'doctor'], trunk: ['check', 'list'] };
  const script = `${completionScript('bash', next)}
    COMP_WORDS=(offhook trunk ch); COMP_CWORD=2; _offhook; echo "\${COMPREPLY[@]}"
    COMP_WORDS=(/usr/bin/offhook do); COMP_CWORD=1; _offhook; echo "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout).toBe('check\ndoctor\n');
  expect(completionScript('fish', next)).toContain(
    "-n '__fish_seen_subcommand_from trunk' -a 'check list'",
  );
});
