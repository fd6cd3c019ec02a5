/** `/docs` in a browser: Scalar's reference from this server alone, with requests that can be tried. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserPage, launchBrowser } from '../support/dashboard/browser.ts';
import { buildDashboard } from '../support/dashboard/dashboard-page.ts';
import { describeWith } from '../support/server/programs.ts';
import { LIVE_KEY, startServer, type TestServer } from '../support/server/server.ts';

describeWith(['chromium'], 'the API reference', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  const origins = new Set<string>();

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer({})).ready();
    browser = await launchBrowser();
    shown = await BrowserPage.open(browser);
    page = shown.page;
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    await page.goto(`${server.baseUrl}/docs`);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  test('lists the error codes and every group of operations', async () => {
    const table = page.getByRole('table');
    await table.waitFor();

    expect(await table.textContent()).toContain('WEBHOOK_ENDPOINT_NOT_FOUND');
    for (const group of ['Agents', 'Calls', 'Webhooks', 'Account']) {
      expect(await page.getByRole('link', { name: group, exact: true }).count()).toBeGreaterThan(0);
    }
  });

  test('sends a request with the key that was typed, and shows the answer', async () => {
    await page.getByText('Lists agents, newest first').first().click();
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const send = dialog.getByRole('button', { name: /^Send/ }).first();

    await send.click();
    await dialog.getByText('UNAUTHORIZED').first().waitFor();
    await dialog.getByPlaceholder('Token').fill(LIVE_KEY);
    await send.click();
    await dialog.getByText('"offset"').first().waitFor();
  });

  test('has the theme of the dashboard, and leads back to it', async () => {
    await page.evaluate("localStorage.setItem('offhook.theme', 'dark')");
    await page.reload();
    await page.locator('.dark-mode').first().waitFor();

    await page.getByRole('link', { name: 'Back to the dashboard' }).click();

    await page.getByRole('heading', { name: 'Offhook' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  test('loads nothing from elsewhere, and breaks no rule of its policy', () => {
    expect([...origins]).toEqual([server.baseUrl]);
    expect(shown.complaints).toEqual([]);
  });
});
