/** The search of the manual in a browser: by keyboard, under the manual's own policy, from its own server alone. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');

describeWith(['chromium'], 'the search of the manual', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let requests: string[];

  beforeAll(async () => {
    spawnSync(process.execPath, ['docs/tools/build-manual.ts'], { cwd: ROOT });
    server = await (await startServer()).ready();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    shown = await BrowserPage.open(browser);
    requests = [];
    shown.page.on('request', (request) => requests.push(request.url()));
    await shown.page.goto(`${server.baseUrl}/manual/reference/settings.html`);
  });

  test('"/" leads to the box, words to sections, and the keyboard to a page', async () => {
    const { page, complaints } = shown;
    await page.keyboard.press('/');
    await page.keyboard.type('behind nat');
    const results = page.locator('#search-results a');
    await results.first().waitFor();

    expect(await results.first().textContent()).toContain('Behind NAT');
    expect(await shown.findings()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/manual\/deploy\.html#behind-nat/);
    await page.locator('#behind-nat').waitFor();

    expect(requests.filter((url) => !url.startsWith(server.baseUrl))).toEqual([]);
    expect(requests.filter((url) => url.endsWith('/search-index.json'))).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  test('a word with a wrong letter is found, one that is nowhere is not, and Escape empties the box', async () => {
    const { page } = shown;
    const status = page.locator('#search-status');
    await page.getByRole('searchbox', { name: 'Search' }).fill('recogniver');
    await page.locator('#search-results a').first().waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('xyzzyplugh');

    await expect.poll(() => status.textContent()).toBe('0 places');
    await page.keyboard.press('Escape');

    expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('');
  });

  test('while the index cannot be had the box says so, and works afterwards', async () => {
    const { page } = shown;
    const box = page.getByRole('searchbox', { name: 'Search' });
    await page.route('**/search-index.json', (route) => route.abort());
    await box.fill('trunk');
    await expect
      .poll(() => page.locator('#search-status').textContent())
      .toContain('Search does not work now');

    await page.unroute('**/search-index.json');
    await box.fill('trunks');
    await page.locator('#search-results a').first().waitFor();
  });

  test('a page without scripts has no box, and its text', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${server.baseUrl}/manual/deploy.html`);

    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(await page.locator('main').textContent()).toContain('Behind NAT');
    await context.close();
  });
});
