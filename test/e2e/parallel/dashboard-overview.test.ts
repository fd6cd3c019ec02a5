/** The overview of a new server and of one with calls, and finding calls again. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls, seedTalk } from '../../support/store/seed-calls.ts';

const SOON = { timeout: 15_000 };

const FIRST_PAGE_BYTES_MAX = 150_000;

describeWith(['chromium'], 'the overview and the list of calls', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId = '';

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

  const rows = () => page.locator('tbody tr');
  const go = async (name: string) => {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };

  test('a new server says what is left to do, with what it runs now', async () => {
    await page.getByText('0 of 5 done').waitFor();

    const steps = await page.locator('.step').allTextContents();
    expect(steps).toHaveLength(5);
    expect(steps[0]).toContain('Language model: scripted/');
    expect(await page.getByRole('region', { name: /stand-ins/ }).count()).toBe(1);
    expect(await page.getByText('All systems are working.').count()).toBe(0);
    expect(await shown.findings()).toEqual([]);
    await shown.picture('overview-new');
  });

  test('the list of calls of a new server has no filters, and leads to the agents', async () => {
    await go('Calls');
    await page.getByText('No calls yet.').waitFor();
    const filters = await page.getByRole('search').count();

    await page.getByRole('link', { name: 'Go to agents' }).click();
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();

    expect(filters).toBe(0);
  });

  test('what has been done is ticked off without a reload', async () => {
    await go('Overview');
    agentId = await server.createAgent({ name: 'Reception' });

    await page.getByText('2 of 5 done').waitFor(SOON);
    await page.getByRole('button', { name: 'Call', exact: true }).waitFor();
  });

  test('a call shows up in the figures and in the list without a reload', async () => {
    await seedCalls(server, { agentId, count: 3 });
    await page.getByRole('region', { name: 'Latest calls' }).waitFor(SOON);
    const today = page.locator('.figures div').filter({ hasText: 'Calls today' });
    // Around midnight some of them are of yesterday.
    expect(await today.locator('dd').textContent()).toMatch(/[0-3]/);
    expect(await page.locator('.figures dt').allTextContents()).toContain('Answer after (median)');

    await go('Calls');
    await expect.poll(() => rows().count()).toBe(3);
    await seedTalk(server, { agentId, turns: 2 });

    await expect.poll(() => rows().count(), SOON).toBe(4);
    expect(await shown.findings()).toEqual([]);
  });

  test('a call is found by what is typed, and the field keeps the focus', async () => {
    await page.getByLabel('Words, number or ID').fill('call_seededTalk');

    await expect.poll(() => rows().count(), SOON).toBe(1);
    expect(page.url()).toContain('q=call_seededTalk');
    const focused = await page.evaluate('document.activeElement.type');
    expect(focused).toBe('search');
  });

  test('a row leads to its call wherever it is pressed, and "All calls" back to the search', async () => {
    await rows()
      .first()
      .click({ position: { x: 600, y: 10 } });
    await page.getByRole('heading', { level: 1, name: /→/ }).waitFor();
    const address = page.url();

    await page.getByRole('link', { name: 'All calls' }).click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();

    expect(address).toContain('#/calls/call_seededTalk');
    expect(await page.getByLabel('Words, number or ID').inputValue()).toBe('call_seededTalk');
  });

  test('a search that finds nothing says so, and is cleared by its button', async () => {
    await page.getByLabel('Words, number or ID').fill('xyzzy');
    await page.getByText('No calls match.').waitFor();

    await page.getByRole('link', { name: 'Clear filters' }).click();

    await expect.poll(() => rows().count(), SOON).toBe(4);
    expect(await page.getByLabel('Words, number or ID').inputValue()).toBe('');
  });

  test('the way back shows the list where it was left', async () => {
    await page.setViewportSize({ width: 1440, height: 320 });
    await go('Calls');
    await expect.poll(() => rows().count(), SOON).toBe(4);
    await page.evaluate('scrollTo(0, 60)');
    await page.evaluate('new Promise(requestAnimationFrame)');
    // A click of the driver would scroll first.
    await page.evaluate("document.querySelectorAll('.row-link')[2].click()");
    await page.getByRole('heading', { level: 1, name: /→/ }).waitFor();
    const topThere = await page.evaluate('scrollY');

    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();

    await expect.poll(() => page.evaluate('scrollY'), SOON).toBe(60);
    expect(topThere).toBeLessThan(60);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('the palette searches calls by a number', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('+1 202 555');
    await page.getByRole('option', { name: 'Find calls with +1 202 555' }).click();

    await expect.poll(() => page.url()).toContain('q=%2B1202555');
  });

  test('the list recovers by itself when the server does not answer for a while', async () => {
    await page.route('**/api/calls?*', (route) => route.abort());
    await page.getByText('The server does not answer').waitFor(SOON);
    await page.unroute('**/api/calls?*');

    await page.getByText('The server does not answer').waitFor({ state: 'detached', ...SOON });

    expect(shown.complaints).toEqual([]);
  });

  test('all that the first page loads, compressed, is small', async () => {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.clearBrowserCache');
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (!request.url().includes('/assets/')) return;
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });

    await page.goto(`${server.baseUrl}/#/overview`);
    await page.reload();
    await page.getByRole('region', { name: 'Latest calls' }).waitFor(SOON);
    await page.waitForLoadState('networkidle');

    const sizeBytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(sizeBytes).toBeGreaterThan(50_000);
    expect(sizeBytes).toBeLessThan(FIRST_PAGE_BYTES_MAX);
  });
});
