/** The programs of `examples/`, each as its first comment says to start it, against a real server. */
import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generate } from '../../../clients/generator/generate.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { ExampleProgram } from '../../support/server/example-program.ts';
import { LIVE_KEY, startServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';

await generate(['typescript']);

/** Folders that are no examples of the interface. */
const OTHERS = ['demo', 'deploy', 'freeswitch', 'phone', 'proxy', 'systemd'];

let server: TestServer;
let testSecret: string;
let liveSecret: string;

beforeAll(async () => {
  const environment = { WEBHOOK_ALLOW_LOCAL: 'true', SANDBOX_SPEED: '5' };
  server = await (await startServer({ environment })).ready();
  testSecret = await secretOf(TEST_KEY);
  liveSecret = await secretOf(LIVE_KEY);
});
afterAll(() => server?.stop());

async function secretOf(key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${server.baseUrl}/api/account/signing-secret`, { headers });
  return String(((await response.json()) as Record<string, unknown>).signingSecret);
}

/** Starts `examples/<file>`. */
function start(file: string, words: readonly string[], environment: NodeJS.ProcessEnv) {
  const program = ['node', `examples/${file}`, ...words];
  return new ExampleProgram(program, { OFFHOOK_URL: server.baseUrl, ...environment });
}

test('place-a-call prints the words of a call, and what became of it', async () => {
  const key = { OFFHOOK_KEY: TEST_KEY };

  const booked = start('place-a-call/place-a-call.ts', ['+12025550105'], key);
  expect(await booked.ended(), booked.output).toBe(0);
  const busy = start('place-a-call/place-a-call.ts', ['+12025550101'], key);
  expect(await busy.ended(), busy.output).toBe(0);

  expect(booked.output).toContain('agent: Good morning, this is the dental practice.');
  expect(booked.output).toMatch(/user: .*appointment/);
  expect(booked.output).toMatch(/ended: completed, user_hangup, \d+ s/);
  expect(busy.output).toContain('ended: failed, busy, 0 s');
});

test('place-a-call says why where the key is wrong', async () => {
  const wrong = start('place-a-call/place-a-call.ts', [], { OFFHOOK_KEY: 'svc_test_wrong' });

  expect(await wrong.ended()).toBe(1);
  expect(wrong.output).toContain('UnauthorizedError');
});

test('appointment-reminders has a result for each person, whether the call was answered or not', async () => {
  const PORT = String(await freePort());
  const reminders = start('appointment-reminders/remind.ts', [], {
    ...{ OFFHOOK_KEY: TEST_KEY, WEBHOOK_SECRET: testSecret, PORT },
  });

  expect(await reminders.ended(), reminders.output).toBe(0);

  expect(reminders.output).toMatch(/^Ms Alvarez: .+/m);
  expect(reminders.output).toContain('Mr Brandt: busy');
  expect(reminders.output).toMatch(/^Ms Chen: .+/m);
  expect(reminders.output).not.toContain('not known yet');
});

test('receptionist hands a caller over to a colleague', async () => {
  const receptionist = start('receptionist/receptionist.ts', [], { OFFHOOK_KEY: TEST_KEY });

  expect(await receptionist.ended(), receptionist.output).toBe(0);

  expect(receptionist.output).toMatch(/user: .*(person|somebody|human)/);
  expect(receptionist.output).toContain('ended: transferred');
});

test('own-http-tool tells the model what the server answers, and what went wrong where it fails or is down', async () => {
  const PORT = String(await freePort());
  const orders = start('own-http-tool/order-server.ts', [], { WEBHOOK_SECRET: liveSecret, PORT });
  await orders.hasPrinted('listening');
  const ask = async (order: string) => {
    const environment = { OFFHOOK_KEY: LIVE_KEY, TOOL_SERVER: `http://127.0.0.1:${PORT}` };
    const tool = start('own-http-tool/make-tool.ts', [order], environment);
    expect(await tool.ended(), tool.output).toBe(0);
    return tool.output.trim();
  };

  expect(await ask('A-1047')).toMatch(/^result: .*\nIt ships on Friday\.$/);
  expect(await ask('A-500')).toBe('problem: the receiver answered 500');
  const unsigned = await fetch(`http://127.0.0.1:${PORT}/orders/A-1047`);
  expect(unsigned.status).toBe(401);
  await orders.stop();
  expect(await ask('A-1047')).toContain('problem: no server listens at its port');
});

test('own-mcp-tool lists the tools of the server, and says what is wrong with a token', async () => {
  const PORT = String(await freePort());
  const shop = start('own-mcp-tool/mcp-server.ts', [], { PORT });
  await shop.hasPrinted('listening');
  const use = async (token: string) => {
    const environment = { OFFHOOK_KEY: LIVE_KEY, MCP_URL: `http://127.0.0.1:${PORT}/mcp` };
    const known = start('own-mcp-tool/use-server.ts', [], { ...environment, MCP_TOKEN: token });
    expect(await known.ended(), known.output).toBe(0);
    return known.output;
  };

  expect(await use('shop-token')).toContain('opening_hours');
  expect(await use('another')).toContain('401');
});

test('knowledge adds a document, and says that a rule book reads none', async () => {
  const added = start('knowledge/add-knowledge.ts', [], { OFFHOOK_KEY: LIVE_KEY });

  expect(await added.ended(), added.output).toBe(0);

  expect(added.output).toMatch(/Prices: version 1, \d+ passages/);
  expect(added.output).toContain('agent: ');
  expect(added.output).toContain('no language model is set up');
});

test('examples/README.md lists every example', () => {
  const readme = readFileSync('examples/README.md', 'utf8');
  const folders = globSync('examples/*/').map((path) => path.split('/')[1] ?? '');
  const examples = folders.filter((folder) => !OTHERS.includes(folder));

  expect(examples.length).toBeGreaterThan(6);
  expect(examples.filter((folder) => !readme.includes(`| [${folder}](`))).toEqual([]);
});
