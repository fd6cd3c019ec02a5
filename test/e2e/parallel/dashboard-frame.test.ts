/** The frame of the dashboard: sidebar, drawer, command palette, environments, and addresses that name nothing. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const NARROW = { width: 360, height: 740 };
const WIDE = { width: 1440, height: 900 };

describeWith(['chromium'], 'the frame of the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    await server.createAgent({ name: 'Reception' });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const openPalette = async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
  };
  const palette = () => page.getByRole('dialog', { name: 'Search' });

  test('the palette opens by its keys, goes to a page, and gives the focus to its heading', async () => {
    await openPalette();
    const findings = await shown.findings();
    await shown.picture('palette');

    await page.keyboard.type('webh');
    await page.getByRole('option', { name: 'Webhooks' }).waitFor();
    await page.keyboard.press('Enter');
    await heading('Webhooks').waitFor();

    expect(findings).toEqual([]);
    expect(await palette().count()).toBe(0);
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  test('the palette finds an agent by its name and a call by its id', async () => {
    await openPalette();
    await page.keyboard.type('recep');
    await page.getByRole('option', { name: 'Reception' }).click();
    await heading('Reception').waitFor();

    await openPalette();
    await page.keyboard.type('call_abc');
    await page.getByRole('option', { name: 'Open call call_abc' }).click();

    await page.getByText('No call has this ID in Live or Test.').waitFor();
  });

  test('the palette says that nothing is found, and closes with Escape', async () => {
    await openPalette();
    await page.keyboard.type('xyzzy');
    await page.getByText('Nothing found.').waitFor();

    await page.keyboard.press('Escape');

    await palette().waitFor({ state: 'detached' });
  });

  test('an address that names no page says so, and leads back', async () => {
    await page.goto(`${server.baseUrl}/#/nonsense`);
    await heading('Page not found').waitFor();
    await page.getByRole('link', { name: 'Go to the overview' }).click();

    await heading('Overview').waitFor();
  });

  test('test data is marked on every page', async () => {
    const mark = page.getByText('Test environment: calls are simulated');
    const before = await mark.count();
    await page.getByText('Test', { exact: true }).click();
    await mark.waitFor();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await heading('Agents').waitFor();

    expect(before).toBe(0);
    expect(await mark.count()).toBe(1);
    expect(page.url()).toContain('environment=test');
    await page.getByText('Live', { exact: true }).first().click();
  });

  test('on a phone the pages are in a drawer, which closes when one is chosen', async () => {
    await page.setViewportSize(NARROW);
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    const drawer = page.getByRole('dialog', { name: 'Menu' });
    await drawer.waitFor();
    const findings = await shown.findings();
    await shown.picture('drawer');

    await drawer.getByRole('link', { name: 'Trunks' }).click();
    await heading('Trunks').waitFor();

    expect(findings).toEqual([]);
    expect(await drawer.count()).toBe(0);
    expect(await shown.isTooWide()).toBe(false);
    await page.setViewportSize(WIDE);
  });

  test('the policy had nothing to forbid', () => {
    expect(shown.complaints).toEqual([]);
  });
});
