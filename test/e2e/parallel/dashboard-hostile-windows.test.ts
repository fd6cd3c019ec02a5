/** Windows of the dashboard's rows, filled with hostile words: shown in them as text, and typed into every field. */
import { globSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { inStore } from '../../support/store/seed-calls.ts';

/** For what takes few characters. */
const SHORT = '<img src=x onerror="window.hit=1">';

const HOSTILE = [
  SHORT,
  '"><svg onload="window.hit=1">',
  '<script>window.hit=1</script>',
  '</textarea><iframe srcdoc="<script>parent.hit=1</script>">',
  'javascript:window.hit=1',
].join(' ');

/** Whether a window shows hostile words before anything is typed, and how many fields it has for text. */
type Window = readonly [hash: string, button: string, isSeeded: boolean, fieldCount: number];

const WINDOWS: readonly Window[] = [
  ['knowledge/{agent}', 'Show text', true, 0],
  ['knowledge/{agent}', 'Add document', false, 2],
  ['knowledge/{agent}', 'Delete', true, 0],
  ['agents/{agent}', 'Compare', true, 0],
  ['agents/{agent}', 'Choose voice', false, 1],
  ['tools', 'Tools', true, 0],
  ['tools', 'Edit', true, 4],
  ['tools', 'Add MCP server', false, 3],
  ['gateways', 'Edit', true, 7],
  ['gateways', 'Add gateway', false, 4],
  ['gateways', 'Add number', false, 1],
  ['webhooks', 'Add endpoint', false, 2],
  ['webhooks', 'Resend failed', false, 0],
  ['webhooks/{endpoint}', 'Details', true, 0],
  ['webhooks/{endpoint}', 'Send test event', true, 0],
  ['webhooks/{endpoint}', 'Edit', true, 2],
  ['keys', 'Revoke', true, 0],
  ['users', 'Rename', true, 1],
  ['users', 'Disable', true, 0],
  ['users', 'Remove', true, 0],
  ['campaigns/{campaign}', 'Cancel campaign', true, 0],
  ['calls', 'Place a call', true, 3],
  ['trunks/acme', 'Test call', true, 3],
  ['live?environment=test', 'Simulate a call', true, 0],
  ['live?environment=test', 'Take over', false, 1],
  ['live?environment=test', 'Listen in', false, 0],
];

const FIELDS = [
  'textarea:visible',
  ...['text', 'search', 'url', 'tel', 'password'].map((type) => `input[type=${type}]:visible`),
].join(', ');

/** A machine that is shared is given its time. */
const SOON = { timeout: 20_000 };

describeWith(['chromium'], 'windows of the dashboard', () => {
  let server: TestServer;
  let receiver: Server;
  let tools: Server;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    buildDashboard();
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(500, { 'X-Note': SHORT }).end(HOSTILE);
    });
    const mcp = createMcpHandler(hostileTools);
    tools = createAdaptorServer({ fetch: (request: Request) => mcp.fetch(request) }) as Server;
    for (const one of [receiver, tools]) {
      await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
    }
    const environment = { WEBHOOK_ALLOW_LOCAL: 'true', SANDBOX_SPEED: '1' };
    server = await (await startServer({ environment })).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.setDefaultTimeout(SOON.timeout);
    page.on('dialog', (dialog) => void dialog.accept());
    await seed();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    for (const one of [receiver, tools]) {
      one?.closeAllConnections();
      one?.close();
    }
  });

  /** @throws {Error} when the server refuses it. @returns its id. */
  const make = async (path: string, body: unknown, method = 'POST'): Promise<string> => {
    const answer = await server.api(method, path, body);
    if (answer.status < 300) return String(answer.body?.id);
    throw new Error(`Cannot ${method} ${path}: ${JSON.stringify(answer.body)}`);
  };

  const seed = async () => {
    await make('/api/trunks', { name: 'acme', proxy: '127.0.0.1:9', numbers: ['+12025550123'] });
    const agentId = await server.createAgent({ name: SHORT });
    ids.set('agent', agentId);
    await make(`/api/agents/${agentId}`, { greeting: HOSTILE, systemPrompt: HOSTILE }, 'PATCH');
    await make(`/api/agents/${agentId}/knowledge`, { name: SHORT, text: HOSTILE });
    const header = { name: 'X-Note', value: HOSTILE, secret: false };
    const mcp = { name: 'shop', url: `${urlOf(tools)}/mcp`, headers: [header], allowedTools: [] };
    await make('/api/mcp-servers', { ...mcp, allowedTools: ['lookup'] });
    const template = { format: 'json', headers: { 'X-Note': HOSTILE }, idPath: null };
    const body = { to: '{to}', text: '{text}', note: HOSTILE };
    const gateway = { name: 'own', preset: 'webhook', from: '+12025550100', url: urlOf(receiver) };
    await make('/api/sms-gateways', { ...gateway, template: { ...template, body } });
    const endpoint = { url: urlOf(receiver), events: ['call.ended'], description: HOSTILE };
    ids.set('endpoint', await make('/api/webhooks/endpoints', endpoint));
    await make(`/api/webhooks/endpoints/${ids.get('endpoint')}/test`, undefined);
    await make('/api/keys', { name: SHORT, scopes: ['calls:read'] });
    const notBefore = new Date(Date.now() + 86_400_000).toISOString();
    const contacts = [{ to: '+12025550188' }];
    ids.set(
      'campaign',
      await make('/api/campaigns', { name: SHORT, agentId, contacts, notBefore }),
    );
    const made = { createdAt: new Date(), lastSignInAt: null, disabledAt: null };
    const user = {
      id: 'usr_hostile',
      name: SHORT,
      role: 'viewer',
      password: null,
      stamp: 1,
    } as const;
    await inStore(server, ({ users }) => users.insert({ ...user, ...made }));
  };

  const show = async (hash: string) => {
    const path = hash.replace(/\{(\w+)\}/, (_, name: string) => ids.get(name) ?? '');
    await page.goto(`${server.baseUrl}/#/${path}`);
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  };

  /** What has become an element or an address, or has run. */
  const harm = () =>
    page.evaluate(`({
      hit: window.hit ?? 0,
      elements: document.querySelectorAll(
        'img[src="x"], svg[onload], iframe, body script, a[href^="javascript:"]',
      ).length,
    })`);

  /** Its texts, and the values of its fields. */
  const wordsOf = async (): Promise<string> => {
    const values =
      '[...document.querySelectorAll("dialog[open] :is(input, textarea)")].map(({ value }) => value)';
    return `${await page.locator('dialog[open]').textContent()} ${await page.evaluate(`${values}.join(' ')`)}`;
  };

  const ring = async () => {
    const client = new SandboxClient(server);
    const agentId = await client.createAgent({ name: SHORT });
    await client.request('POST', '/api/sandbox/calls/inbound', { agentId, scenario: 'friendly' });
  };

  test.each(
    WINDOWS,
  )('#/%s, %s: hostile words stay words', async (hash, button, isSeeded, least) => {
    if (hash.startsWith('live')) await ring();
    await show(hash);
    await page.getByRole('button', { name: button, exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();

    if (isSeeded) await expect.poll(wordsOf, SOON).toContain('onerror="window.hit=1"');
    const fields = await dialog.locator(FIELDS).all();
    for (const field of fields) await field.fill(HOSTILE);
    const send = dialog.locator('button[type=submit]');
    if (fields.length > 0 && (await send.count()) > 0) await send.first().click();
    // It is disabled until the server has answered, and gone with the window.
    const waiting = dialog.locator('button[type=submit]:disabled');
    const isOver = async () => (await waiting.count()) === 0;
    await expect.poll(isOver, SOON).toBe(true);
    await page.evaluate('new Promise(requestAnimationFrame)');

    expect(fields.length).toBeGreaterThanOrEqual(least);
    expect(await harm()).toEqual({ hit: 0, elements: 0 });
    expect(shown.complaints).toEqual([]);
  });

  test('what a form would change, and the question of a template, show hostile words as words', async () => {
    await show('agents/{agent}?environment=live');
    await page.getByLabel('Greeting', { exact: true }).fill(`${HOSTILE} ${HOSTILE}`);
    await page.getByRole('button', { name: 'Show changes' }).click();
    const changes = await wordsOf();
    const harmOfChanges = await harm();
    await show('agents/new?environment=live');
    await page.getByLabel('Greeting', { exact: true }).fill(HOSTILE);
    await page.getByRole('button', { name: 'Receptionist' }).click();
    await page.getByRole('dialog').waitFor();

    expect(changes).toContain('onerror="window.hit=1"');
    expect([harmOfChanges, await harm()]).toEqual(Array(2).fill({ hit: 0, elements: 0 }));
    expect(shown.complaints).toEqual([]);
  });

  test('a key with a hostile name is shown in its window, and a name for it stays words', async () => {
    await show('keys?environment=live');
    await page.getByLabel('Name', { exact: true }).fill(SHORT);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog').waitFor();

    expect(await harm()).toEqual({ hit: 0, elements: 0 });
    expect(shown.complaints).toEqual([]);
  });

  test('every window that a button opens was tried', () => {
    const texts: Readonly<Record<string, string>> = JSON.parse(
      readFileSync('src/dashboard/text/en.json', 'utf8'),
    );
    const sources = globSync('src/dashboard/**/*.tsx').map((file) => readFileSync(file, 'utf8'));
    const opening = /<DialogButton\s[^>]*?label=\{t\('([^']+)'\)/g;
    const labels = sources.flatMap((source) =>
      [...source.matchAll(opening)].map(([, key = '']) => texts[key]),
    );
    const tried = ['Show changes', ...WINDOWS.map(([, button]) => button)];

    expect(labels.length).toBeGreaterThan(15);
    expect(labels.filter((label) => label === undefined || !tried.includes(label))).toEqual([]);
  });
});

function hostileTools(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  const inputSchema = z.object({});
  server.registerTool('lookup', { description: HOSTILE, inputSchema }, async () => ({
    content: [],
  }));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
