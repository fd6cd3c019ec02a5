/** Every page of the dashboard, light and dark, on a phone, a tablet and a desktop: what axe finds, and what is too wide. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import {
  EVERY_PAGE,
  type FilledServer,
  startFilledServer,
} from '../../support/dashboard/every-page.ts';
import { describeWith } from '../../support/server/programs.ts';

const WIDTHS = [1440, 768, 360];

const THEMES = ['light', 'dark'];

describeWith(['chromium'], 'every page of the dashboard', () => {
  let filled: FilledServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    filled = await startFilledServer();
    browser = await launchBrowser();
    shown = await openDashboard(filled.server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await filled?.server.stop();
  });

  test.each(EVERY_PAGE)('#/%s', async (hash) => {
    await page.goto(filled.urlOf(hash));
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
