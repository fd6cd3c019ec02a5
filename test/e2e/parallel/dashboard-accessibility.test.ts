/** Every page of the dashboard, light and dark, on a phone, a tablet and a desktop: what axe finds, and what is too wide. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedAppointments } from '../../support/store/seed-appointments.ts';
import { seedCalls, seedTalk } from '../../support/store/seed-calls.ts';

const WIDTHS = [1440, 768, 360];

const THEMES = ['light', 'dark'];

const PAGES = [
  'overview',
  'live',
  'calls',
  'calls?status=failed',
  'calls/call_seededTalk',
  'campaigns',
  'campaigns/new',
  'campaigns/{campaign}',
  'agents',
  'agents/new',
  'agents/{agent}',
  'tools',
  'tools/+',
  'tools/order_status',
  'knowledge',
  'calendars',
  'calendars/+',
  'calendars/desk',
  'gateways',
  'numbers',
  'trunks',
  'trunks/+',
  'trunks/acme',
  'analytics',
  'webhooks',
  'keys',
  'logs',
  'settings',
  'system',
  'models',
  'users',
  'audit-log',
  'no-such-page',
];

/** Long names, as people give them. */
const NAME = 'Dr. Smith and partners, dental practice, front desk and emergencies';

const TRUNK = {
  name: 'acme',
  proxy: '127.0.0.1:9',
  optionsIntervalSeconds: 0,
  numbers: ['+12025550123', '+12025550124'],
};

const GATEWAY = {
  name: 'own',
  preset: 'webhook',
  from: '+12025550100',
  url: 'http://127.0.0.1:9/send',
};

const TOOL = {
  name: 'order_status',
  description: 'Looks up where an order is. Ask the caller for the order number first.',
  parameters: {
    type: 'object',
    properties: { orderId: { type: 'string' } },
    required: ['orderId'],
  },
  method: 'GET',
  url: 'https://shop.example.com/a/long/path/to/orders/{orderId}',
  headers: [{ name: 'Authorization', value: 'Bearer secret', secret: true }],
};

describeWith(['chromium'], 'every page of the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-pages-'));
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId = '';
  let campaignId = '';

  beforeAll(async () => {
    buildDashboard();
    const trunks = join(folder, 'trunks.json');
    writeFileSync(trunks, JSON.stringify([TRUNK]));
    const environment = { SIP_TRUNKS: trunks, WEBHOOK_ALLOW_LOCAL: 'true' };
    server = await (await startServer({ environment })).ready();
    agentId = await server.createAgent({ name: NAME });
    await seedCalls(server, { agentId, count: 3 });
    await seedTalk(server, { agentId, turns: 6 });
    await server.api('POST', '/api/tools', TOOL);
    const shop = { name: 'shop', url: 'http://127.0.0.1:9/mcp', allowedTools: ['find_order'] };
    await server.api('POST', '/api/mcp-servers', shop);
    await seedAppointments(server, 'desk');
    await server.api('POST', '/api/sms-gateways', GATEWAY);
    const endpoint = { url: 'http://127.0.0.1:9/a/long/path/to/hook', events: ['call.ended'] };
    const made = await server.api('POST', '/api/webhooks/endpoints', endpoint);
    await server.api('POST', `/api/webhooks/endpoints/${made.body.id}/test`);
    const contacts = [{ to: '+12025550188', metadata: { name: NAME } }, { to: '+12025550189' }];
    const notBefore = new Date(Date.now() + 86_400_000).toISOString();
    const campaign = { name: NAME, agentId, contacts, notBefore };
    campaignId = String((await server.api('POST', '/api/campaigns', campaign)).body.id);
    await server.api('POST', '/api/keys', { name: NAME, scopes: ['calls:read'] });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  test.each(PAGES)('#/%s', async (hash) => {
    await page.goto(
      `${server.baseUrl}/#/${hash.replace('{agent}', agentId).replace('{campaign}', campaignId)}`,
    );
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });

    const findings: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const theme of THEMES) {
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        const found = await shown.findings();
        findings.push(...found.map((finding) => `${width} px, ${theme}: ${finding}`));
        if (theme === 'light') await shown.picture(`${hash.replaceAll(/\W+/g, '-')}-${width}`);
      }
      if (await shown.isTooWide()) findings.push(`${width} px: too wide`);
    }

    expect(findings).toEqual([]);
  });

  test('the policy had nothing to forbid', () => {
    expect(shown.complaints).toEqual([]);
  });
});
