/** Pages of the dashboard in German: what the server says in English is not left in English there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { englishOn } from '../../support/dashboard/english-on.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedFailedCall } from '../../support/store/seed-failed-call.ts';

/** Does not register, and nothing answers at its proxy. */
const TRUNK = {
  ...{ name: 'acme', proxy: '127.0.0.1:9', optionsIntervalSeconds: 0 },
  numbers: ['+12025550123'],
};

/** Registers where nothing answers. */
const REGISTERED_TRUNK = {
  ...{ name: 'deaf', proxy: '127.0.0.1:9', register: true, username: 'joe', password: 'secret' },
  numbers: ['+12025550124'],
};

/** A check waits for a silent carrier. */
const CHECKED = { timeout: 60_000 };

/** Time to pause an agent before its campaign begins. */
const BEGINS_MS = 3000;

describeWith(['chromium'], 'the dashboard in German', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-dashboard-german-'));
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId: string;

  beforeAll(async () => {
    buildDashboard();
    const SIP_TRUNKS = join(folder, 'trunks.json');
    writeFileSync(SIP_TRUNKS, JSON.stringify([TRUNK, REGISTERED_TRUNK]));
    const environment = { SIP_TRUNKS, OLLAMA_HOST: 'http://127.0.0.1:9', MODELS_DIR: folder };
    server = await (await startServer({ environment })).ready();
    agentId = await server.createAgent({ name: 'Empfang' });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    await shown.choose('Deutsch');
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  const open = async (hash: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  };

  test.each([
    'acme',
    'deaf',
  ])('the page of trunk %s with what its check finds has no English sentence', async (name) => {
    await open(`trunks/${name}`);
    await page.getByRole('button', { name: 'Jetzt prüfen' }).click();
    await page.locator('.outcome li', { hasText: 'wird geprüft…' }).waitFor(CHECKED);
    const during = await englishOn(page);
    await page.getByText('funktioniert noch nicht', { exact: true }).waitFor(CHECKED);

    expect(during).toEqual([]);
    expect(await englishOn(page)).toEqual([]);
  });

  test.each([
    ...['overview', 'live', 'calls', 'campaigns', 'analytics', 'agents', 'agents/new', 'numbers'],
    ...[
      'tools',
      'tools/+',
      'calendars',
      'calendars/+',
      'gateways',
      'trunks',
      'trunks/+',
      'trunks/+?step=access',
      'trunks/+?step=numbers',
      'webhooks',
    ],
    ...['keys', 'settings', 'system', 'models', 'users', 'audit-log', 'logs', 'nowhere'],
  ])('#/%s has no English sentence', async (hash) => {
    await open(hash);

    expect(await englishOn(page)).toEqual([]);
  });

  test('the page of a campaign with numbers that may not be called has no English sentence', async () => {
    const id = await startCampaign(server, { agentId });

    await open(`campaigns/${id}`);
    await page.getByRole('cell', { name: 'nicht erlaubt', exact: true }).nth(2).waitFor(CHECKED);

    expect(await englishOn(page)).toEqual([]);
  });

  test('the page of a campaign whose agent is paused has no English sentence', async () => {
    const paused = await server.createAgent({ name: 'Pausiert', phoneNumber: '+12025550124' });
    const notBefore = new Date(Date.now() + BEGINS_MS).toISOString();
    const id = await startCampaign(server, { agentId: paused, notBefore });
    await server.api('PATCH', `/api/agents/${paused}`, { status: 'paused' });

    await open(`campaigns/${id}`);
    await page.locator('.notice').waitFor(CHECKED);

    expect(await englishOn(page)).toEqual([]);
  });

  test('the page of a call with all that a timeline may hold has no English sentence', async () => {
    const id = await seedFailedCall(server, agentId);

    await open(`calls/${id}`);

    expect(await englishOn(page)).toEqual([]);
  });
});

/** Numbers that the dial policy refuses, each for another reason, and one that may be called. @returns the campaign's id. */
async function startCampaign(
  server: TestServer,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const numbers = ['+4930123456', '+19005550123', '+12025550123', '+12025550188'];
  const contacts = numbers.map((to) => ({ to }));
  const campaign = { name: 'Rückruf', callsPerMinute: 60, contacts, ...fields };
  const { body, status } = await server.api('POST', '/api/campaigns', campaign);
  if (status !== 201) throw new Error(`Cannot make the campaign: ${JSON.stringify(body)}`);
  return String(body.id);
}
