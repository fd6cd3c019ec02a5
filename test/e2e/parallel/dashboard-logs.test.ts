/** The page of logs: requests as they come, filters, and the way from an error message to its row. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

describeWith(['chromium'], 'the logs of the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const requests = () => page.getByRole('group', { name: 'API requests' });

  test('a request is listed while the page is open, by its route and key', async () => {
    await page.goto(`${server.baseUrl}/#/logs`);
    await page.getByText('The last 2,000 requests').waitFor();

    await server.api('GET', '/api/calls/call_unknown');

    const row = requests().getByRole('row').filter({ hasText: 'CALL_NOT_FOUND' });
    await row.getByText('GET /api/calls/{callId}').waitFor();
    expect(await row.textContent()).toContain('svc_live_…');
    expect(await requests().textContent()).not.toContain('call_unknown');
  });

  test('filters leave what is looked for', async () => {
    await server.api('GET', '/api/agents');
    await page.getByRole('searchbox', { name: 'Method and route' }).fill('get /api/agents');
    await requests().getByText('GET /api/agents').first().waitFor();
    await requests().getByText('CALL_NOT_FOUND').waitFor({ state: 'detached' });

    await page.getByRole('combobox', { name: 'Status' }).selectOption('5xx');

    await page.getByText('No matching requests since the server started').waitFor();
  });

  test('the request ID of an error message leads to its row', async () => {
    await page.goto(`${server.baseUrl}/#/calls?agentId=x&startDate=wrong`);
    const link = page.getByRole('alert').getByRole('link');
    const requestId = await link.textContent();

    await link.click();

    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
    const rows = requests().getByRole('row').filter({ hasText: 'VALIDATION_ERROR' });
    await rows.waitFor();
    expect(await rows.count()).toBe(1);
    expect(await rows.textContent()).toContain(requestId);
    expect(requestId).toMatch(/^req_\w+$/);
  });
});
