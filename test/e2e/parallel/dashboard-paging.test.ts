/** Lists of the dashboard page by page: calls while new ones come, deliveries whose filter changes. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls } from '../../support/store/seed-calls.ts';

const CALLS = 120;
const NEW_CALLS = 50;

/** One more than a page has. */
const DELIVERIES = 21;

const HOUR_MS = 3_600_000;

describeWith(['chromium'], 'pages of lists', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId = '';

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } })).ready();
    agentId = await server.createAgent();
    await seedCalls(server, { agentId, count: CALLS, beforeMs: Date.now() - HOUR_MS });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const rows = () =>
    page
      .locator('tbody .row-link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')?.split('/').at(-1)));

  const turn = async (button: string, where: string) => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByText(where, { exact: true }).waitFor();
    return rows();
  };

  test('no call is shown twice or left out while 50 new ones come, and the way back shows the same', async () => {
    await page.goto(`${server.baseUrl}/#/calls`);
    await page.getByText('1–50 of 120', { exact: true }).waitFor();
    const first = await rows();
    const second = await turn('Next', '51–100 of 120');
    await seedCalls(server, { agentId, count: NEW_CALLS, name: 'new' });
    const third = await turn('Next', '151–170 of 170');
    const secondAgain = await turn('Previous', '101–150 of 170');

    const seen = [...first, ...second, ...third];
    expect(seen).toEqual(Array.from({ length: CALLS }, (_, index) => `call_seeded${index}`));
    expect(secondAgain).toEqual(second);
    expect(await shown.findings()).toEqual([]);
  });

  test('a link to a page shows the same calls to another reader', async () => {
    const other = await page.context().newPage();
    const before = await rows();

    await other.goto(page.url());
    await other.getByText('101–150 of 170', { exact: true }).waitFor();

    const link = other.locator('tbody .row-link').first();
    expect(await link.getAttribute('href')).toContain(String(before[0]));
    await other.close();
  });

  test('a filter that is changed on a later page begins at its first page', async () => {
    const urls = ['http://127.0.0.1:9/few', 'http://127.0.0.1:9/many'] as const;
    const [few, many] = await Promise.all(
      urls.map((url) =>
        server.api('POST', '/api/webhooks/endpoints', { url, events: ['call.ended'] }),
      ),
    );
    const ask = (id: unknown) => server.api('POST', `/api/webhooks/endpoints/${id}/test`);
    for (let sent = 1; sent < DELIVERIES; sent += 1) await ask(many?.body.id);
    await ask(few?.body.id);
    await page.goto(`${server.baseUrl}/#/webhooks`);
    await page.getByText('1–20 of 21', { exact: true }).waitFor();
    await turn('Next', '21–21 of 21');

    await page.getByLabel('Endpoint', { exact: true }).selectOption(urls[0]);

    const deliveries = page.getByRole('group', { name: 'Deliveries' });
    await deliveries.getByRole('link', { name: urls[0] }).waitFor();
  });
});
