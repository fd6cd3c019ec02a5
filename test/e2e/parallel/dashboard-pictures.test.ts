/**
 * What pages of the dashboard look like, against the pictures that were accepted last: `test/fixtures/dashboard-pictures`.
 * Those of a change that is meant are accepted by running this file with `ACCEPT_PICTURES=true`.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AcceptedPictures,
  CHANGED_SHARE_MAX,
  PICTURE_CONTEXT,
  PICTURE_SWITCHES,
} from '../../support/dashboard/accepted-pictures.ts';
import { BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, setUp } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls } from '../../support/store/seed-calls.ts';

// biome-ignore lint/style/noProcessEnv: a switch of this file alone.
const isAccepting = process.env.ACCEPT_PICTURES === 'true';

const WIDTHS = [1440, 768, 360];

const THEMES = ['light', 'dark'];

describeWith(['chromium'], 'pictures of the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let pictures: AcceptedPictures;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } })).ready();
    const agentId = await server.createAgent({ name: 'Front desk' });
    await seedCalls(server, { agentId, count: 4 });
    const endpoint = { url: 'http://127.0.0.1:9/hook', events: ['call.ended'] };
    await server.api('POST', '/api/webhooks/endpoints', endpoint);
    browser = await launchBrowser(PICTURE_SWITCHES);
    pictures = await AcceptedPictures.open(browser);
    page = await (await browser.newContext(PICTURE_CONTEXT)).newPage();
    await setUp(server, new BrowserPage(page));
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const show = async (hash: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    // Where the pointer and the focus are is no part of the page.
    await page.mouse.move(0, 0);
    await page.evaluate('document.activeElement.blur()');
  };

  test.each(['calls', 'tools/+', 'webhooks'])('#/%s looks as it was accepted', async (hash) => {
    await show(hash);

    const changed: Record<string, number> = {};
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const theme of THEMES) {
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        const name = `${hash.replaceAll(/\W+/g, '-')}-${width}-${theme}`;
        if (isAccepting) await pictures.accept(page, name);
        const share = await pictures.changedShare(page, name);
        if (share > CHANGED_SHARE_MAX) changed[name] = share;
      }
    }

    expect(changed).toEqual({});
  });

  test('a heading that has moved by 8 px is seen', async () => {
    await show('webhooks');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.evaluate("document.documentElement.dataset.theme = 'light'");
    await page.evaluate("document.querySelector('h1').style.marginTop = '8px'");

    const share = await pictures.changedShare(page, 'webhooks-1440-light');

    expect(share).toBeGreaterThan(CHANGED_SHARE_MAX);
  });
});
