/**
 * What pages of the dashboard look like, against the pictures that were accepted last: `test/fixtures/dashboard-pictures`.
 * Those of a change that is meant are accepted by running this file with `ACCEPT_PICTURES=true`.
 */
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  AcceptedPictures,
  CHANGED_SHARE_MAX,
  PICTURE_CONTEXT,
  PICTURE_SWITCHES,
} from '../../support/dashboard/accepted-pictures.ts';
import { BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, setUp } from '../../support/dashboard/dashboard-page.ts';
import {
  EVERY_PAGE,
  type FilledServer,
  startFilledServer,
} from '../../support/dashboard/every-page.ts';
import { describeWith } from '../../support/server/programs.ts';

// biome-ignore lint/style/noProcessEnv: a switch of this file alone.
const isAccepting = process.env.ACCEPT_PICTURES === 'true';

const WIDTHS = [1440, 768, 360];

const THEMES = ['light', 'dark'];

/** A Thursday, at which the server's and the page's calendars stand still. */
const AT = '2026-01-15T10:00:00Z';

const STILL_DATE = new URL(`../../support/server/still-date.ts?at=${AT}`, import.meta.url);

/** Checks say what the machine has; keys that were made at one instant have their order by chance. */
const UNSTEADY = ['system', 'keys'];

/** Time without a change after which a page has all that it loads. */
const QUIET_MS = 500;

const SETTLE_MS_MAX = 10_000;

/** Parts of a page load after its heading is there. */
async function settled(page: Page): Promise<void> {
  let before = '';
  for (let waitedMs = 0; waitedMs < SETTLE_MS_MAX; waitedMs += QUIET_MS) {
    const now = String(await page.evaluate('document.body.innerHTML'));
    if (now === before) return;
    before = now;
    await setTimeout(QUIET_MS);
  }
  throw new Error('The page does not come to rest');
}

describeWith(['chromium'], 'pictures of the dashboard', () => {
  let filled: FilledServer;
  let browser: Browser;
  let pictures: AcceptedPictures;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(AT) });
    filled = await startFilledServer({ NODE_OPTIONS: `--import=${STILL_DATE.href}` });
    browser = await launchBrowser(PICTURE_SWITCHES);
    pictures = await AcceptedPictures.open(browser);
    page = await (await browser.newContext(PICTURE_CONTEXT)).newPage();
    await page.clock.setFixedTime(AT);
    await setUp(filled.server, new BrowserPage(page));
  });

  afterAll(async () => {
    await browser?.close();
    await filled?.server.stop();
    vi.useRealTimers();
  });

  const show = async (hash: string) => {
    await page.goto(filled.urlOf(hash));
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await settled(page);
    // Where the pointer and the focus are is no part of the page.
    await page.mouse.move(0, 0);
    await page.evaluate('document.activeElement.blur()');
  };

  test.each(
    EVERY_PAGE.filter((hash) => !UNSTEADY.includes(hash)),
  )('#/%s looks as it was accepted', async (hash) => {
    await show(hash);

    const changed: Record<string, number> = {};
    for (const theme of THEMES) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      for (const width of WIDTHS) {
        // In the colours of the theme: what is drawn on a canvas is drawn again when its width changes.
        await page.setViewportSize({ width, height: 900 });
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
