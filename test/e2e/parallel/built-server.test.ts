/** `dist/server`, which `npm start` runs: threads, children, models and files are found from there, and a call goes as from the sources. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { childrenOf } from '../../support/server/processes.ts';
import { buildServer, startServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NUMBER = '+12025550123';
const QUESTION = 'What are your opening hours?';

const nodeRuns = (...words: string[]) =>
  promisify(execFile)(process.execPath, words, { cwd: ROOT });

test('the built server hears, answers, and drains', async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  await server.ready();
  await server.createAgent({ phoneNumber: NUMBER, greeting: 'Hello.' });
  const phone = new Phone();
  await phone.start();
  onTestFinished(() => phone.stop());

  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  const voicedAfter = (atMs: number) =>
    call.line.heard.some((heard) => heard.isVoiced && heard.atMs > atMs);
  await new Listener(call.line).hasSpoken(0, 600, 15_000);
  const children = childrenOf(server.pid).map(({ commandLine }) => commandLine);
  const rolesOf = async () => {
    const { body } = await server.api('GET', `/api/calls/${id}`);
    const said = body.transcript as readonly { readonly role: string }[];
    return said.map(({ role }) => role);
  };
  const { lastVoicedAtMs } = await call.line.speak(phraseSaying(QUESTION));
  await expect.poll(() => voicedAfter(lastVoicedAtMs), { timeout: 20_000 }).toBe(true);
  server.kill('SIGTERM');
  await expect.poll(() => server.output).toContain('draining');
  const refused = phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  await expect(refused).rejects.toMatchObject({ sipStatus: 503 });
  await expect.poll(rolesOf, { timeout: 20_000 }).toEqual(['agent', 'user', 'agent']);
  await call.hangUp();

  expect(await server.exited).toBe(0);
  const built = children.filter((line) => line.includes(join(ROOT, 'dist/server/')));
  expect(built.join('\n')).toContain('recognizer-child.js');
  expect(built.join('\n')).toContain('speaking-child.js');
  expect(children.filter((line) => line.includes('.ts'))).toEqual([]);
});

test('a server that was started through a link keeps to its folder when the link leads to another version', async () => {
  await buildServer();
  const folder = mkdtempSync(join(tmpdir(), 'offhook-link-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const link = join(folder, 'offhook');
  symlinkSync(ROOT, link);
  const server = await startServer({ program: 'dist/server/main.js', cwd: link });
  onTestFinished(() => server.stop());
  await server.ready();
  const mcpServer = { name: 'shop', url: 'https://mcp.invalid/mcp', allowedTools: ['look_up'] };

  rmSync(link);
  symlinkSync(folder, link);
  const { body: added } = await server.api('POST', '/api/mcp-servers', mcpServer);
  // The client is loaded by the first use of it.
  const tried = await server.api('POST', `/api/mcp-servers/${added.name}/test`);

  expect(tried).toMatchObject({ status: 200, body: { ok: false, tools: [] } });
});

test('the other programs of the build run without sources: version, settings, operator, models', async () => {
  await buildServer();

  const [version, sourceVersion, admin, models] = await Promise.all([
    nodeRuns('dist/server/main.js', '--version'),
    nodeRuns('src/main.ts', '--version'),
    nodeRuns('dist/server/admin.js', '--help'),
    nodeRuns('dist/server/models.js', '--help'),
  ]);

  expect(version.stdout).toBe(sourceVersion.stdout);
  expect(admin.stdout).toContain('account');
  expect(models.stdout).toContain('--manifest');
});
