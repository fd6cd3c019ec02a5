/** Links in the dashboard: they carry the environment, and one that leads elsewhere says where its thing is. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls } from '../../support/store/seed-calls.ts';

const NOWHERE = '0'.repeat(24);

describeWith(['chromium'], 'links in the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  /** What exists in Live, by the name of its page. */
  const live = { agents: '', calls: '', webhooks: '' };
  let testAgentId = '';

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } })).ready();
    live.agents = await server.createAgent({ name: 'Reception' });
    await seedCalls(server, { agentId: live.agents, count: 1 });
    const calls = await server.api('GET', '/api/calls');
    live.calls = (calls.body.data as { id: string }[])[0]?.id ?? '';
    const endpoint = { url: 'http://127.0.0.1:9/hook', events: ['call.ended'] };
    const made = await server.api('POST', '/api/webhooks/endpoints', endpoint);
    live.webhooks = String(made.body.id);
    testAgentId = await new SandboxClient(server).createAgent();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const open = async (hash: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const isLooking = (name: 'Live' | 'Test') => page.getByRole('radio', { name }).isChecked();

  test.each([
    ['agents', 'This agent is in the Live environment. You are looking at Test.'],
    ['calls', 'This call is in the Live environment. You are looking at Test.'],
    ['webhooks', 'This webhook endpoint is in the Live environment. You are looking at Test.'],
  ] as const)('#/%s/… of Live, opened under Test, says so, offers to switch, and deletes nothing', async (name, text) => {
    await open('calls?environment=test');
    await open(`${name}/${live[name]}`);
    await page.getByText(text).waitFor();
    const findings = await shown.findings();
    await shown.picture(`elsewhere-${name}`);
    const deletes = await page.getByRole('button', { name: /Delete|Try again/ }).count();

    await button('Switch to Live').click();
    await page.getByText(text).waitFor({ state: 'detached' });

    expect(deletes).toBe(0);
    expect(findings).toEqual([]);
    expect(await isLooking('Live')).toBe(true);
    await expect.poll(() => page.url()).toContain(`#/${name}/${live[name]}?environment=live`);
  });

  test('an agent of Test, opened under Live, says so as well', async () => {
    await open('calls?environment=live');
    await open(`agents/${testAgentId}`);

    await page.getByText('This agent is in the Test environment.').waitFor();

    expect(await button('Delete agent').count()).toBe(0);
  });

  test.each([
    [`agents/agent_${NOWHERE}`, 'No agent has this ID in Live or Test.'],
    [`calls/call_${NOWHERE}`, 'No call has this ID in Live or Test.'],
    [`webhooks/we_${NOWHERE}`, 'No webhook endpoint has this ID in Live or Test.'],
  ])('#/%s says that there is none in either', async (hash, text) => {
    await open('calls?environment=live');
    await open(hash);

    await page.getByText(text).waitFor();

    expect(await button('Switch to Test').count()).toBe(0);
    expect(await button('Delete agent').count()).toBe(0);
  });

  test('a copied link opens in its environment, whichever was looked at last', async () => {
    await open(`agents/${live.agents}?environment=live`);
    await page.getByRole('heading', { name: 'Reception' }).waitFor();
    const copied = page.url();
    await page.getByText('Test', { exact: true }).click();
    await expect.poll(() => page.url()).toContain('environment=test');
    const other = await page.context().newPage();

    await other.goto(copied);
    await other.getByRole('heading', { name: 'Reception' }).waitFor();

    expect(await other.getByRole('radio', { name: 'Live' }).isChecked()).toBe(true);
    await other.close();
  });

  test('the link of a call is copied by its button, with the environment', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(`calls/${live.calls}?environment=live`);

    await button('Copy link').click();
    await page.getByText('Link copied').waitFor();

    const link = `${server.baseUrl}/#/calls/${live.calls}?environment=live`;
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link);
    expect(await shown.findings()).toEqual([]);
    await open(`agents/${live.agents}?environment=test`);
  });

  test('it is said in German as well', async () => {
    await shown.choose('Deutsch');

    await page.getByText('Diesen Agenten gibt es in der Umgebung Live.').waitFor();

    expect(await button('Zu Live wechseln').count()).toBe(1);
    expect(shown.complaints).toEqual([]);
  });

  test('what the server refuses is said in German, at its field and as a whole', async () => {
    await open('webhooks?environment=test');
    await button('Endpunkt hinzufügen').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL', { exact: true }).fill('http://example.com/hook');

    await dialog.getByRole('button', { name: 'Endpunkt hinzufügen' }).click();
    await page
      .getByText('erwartet wird https; http geht nur für diesen Rechner', { exact: true })
      .waitFor();

    await page
      .getByText('Adresse nicht möglich: erwartet wird https; http geht nur für diesen Rechner')
      .waitFor();
    expect(await page.getByText('expected').count()).toBe(0);
  });
});
