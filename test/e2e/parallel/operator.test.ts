/** The operator's first minutes and a forgotten password, on the whole server. */
import { afterAll, expect, test } from 'vitest';
import { AdminFolders, adminIn } from '../../support/server/admin.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const PASSWORD = 'correct horse battery';

const folders = new AdminFolders();
const servers: TestServer[] = [];

afterAll(async () => {
  for (const server of servers) await server.stop();
  folders.remove();
});

async function start(dataDir: string): Promise<TestServer> {
  const server = await (await startServer({ dataDir })).ready();
  servers.push(server);
  await expect.poll(() => server.output, { timeout: 10_000 }).toContain('Offhook is ready');
  return server;
}

/** Of the link that the server has printed. */
function tokenIn({ output }: TestServer): string | undefined {
  return /http\S+\/#\/setup\?token=([\w-]{43})\s/.exec(output)?.[1];
}

function ask(server: TestServer, path: string, cookie = '', body?: object): Promise<Response> {
  return fetch(`${server.baseUrl}/dashboard/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', cookie },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

test('the printed link sets the password, and `operator reset` brings another link', async () => {
  const dataDir = folders.make();
  const server = await start(dataDir);
  const token = tokenIn(server);
  const setUp = await ask(server, 'setup', '', { token, password: PASSWORD });
  const cookie = (setUp.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const signedIn = await ask(server, 'session', cookie);

  const reset = await adminIn(dataDir, ['operator', 'reset']);
  const afterReset = await ask(server, 'session', cookie);
  await server.stop();
  const next = await start(dataDir);
  const forgotten = await ask(next, 'login', '', { password: PASSWORD });
  const again = await adminIn(dataDir, ['operator', 'reset', '--json']);

  expect([setUp.status, signedIn.status]).toEqual([200, 200]);
  expect(reset).toMatchObject({ status: 0, out: expect.stringContaining('signed out') });
  expect([afterReset.status, forgotten.status]).toEqual([401, 409]);
  expect(tokenIn(next)).toMatch(/^[\w-]{43}$/);
  expect(tokenIn(next)).not.toBe(token);
  expect(JSON.parse(again.out)).toEqual({ wasSet: false });
  expect(server.output + next.output).not.toContain(PASSWORD);
});
