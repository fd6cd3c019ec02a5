/** Two hundred calls in the live view at a time: what the page's own code takes of a core. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { type LiveStandIn, startLiveStandIn } from '../../support/dashboard/live-stand-in.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls } from '../../support/store/seed-calls.ts';

const LIVE_CALLS = 200;

const WATCH_MS = 10_000;

/** Of a core. */
const SCRIPT_SHARE_MAX = 0.05;

/** A machine that is shared is given its time. */
const SOON = { timeout: 10_000 };

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeWith(['chromium'], 'the live view', () => {
  let server: TestServer;
  let live: LiveStandIn;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    await seedCalls(server, { agentId: await server.createAgent(), count: 1 });
    const { body } = await server.api('GET', '/api/calls');
    const [call] = body.data as readonly object[];
    live = await startLiveStandIn(server, { calls: LIVE_CALLS, call: call ?? {} });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    live?.stop();
    await server?.stop();
  });

  test('200 calls with their levels and words take less than 5 % of a core of script', async () => {
    await page.goto(`${live.baseUrl}/#/live`);
    await expect
      .poll(() => page.locator('.live-card').count(), { timeout: 20_000 })
      .toBe(LIVE_CALLS);
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Performance.enable');
    await later(3000);

    const [before, saidBefore] = [await seconds(devTools), live.said()];
    await later(WATCH_MS);
    const [after, said] = [await seconds(devTools), live.said() - saidBefore];

    const shareOf = (name: string) => ((after(name) - before(name)) * 1000) / WATCH_MS;
    const shares = Object.fromEntries(
      ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration', 'TaskDuration'].map((name) => [
        name,
        Number(shareOf(name).toFixed(4)),
      ]),
    );
    process.stdout.write(
      `${LIVE_CALLS} live calls, ${said} sentences: ${JSON.stringify(shares)}\n`,
    );
    expect(said).toBeGreaterThan(LIVE_CALLS);
    expect(await page.locator('.said').count()).toBeGreaterThan(LIVE_CALLS);
    expect(shareOf('ScriptDuration')).toBeLessThan(SCRIPT_SHARE_MAX);
  });

  test('a call that comes into sight shows its newest words, and its meters move', async () => {
    const last = page.locator('.live-card').last();
    const words = () => last.locator('.said').last().textContent();
    const bar = () => last.locator('.meter-fill').first().getAttribute('style');
    // Cards out of sight have a height that is a guess: the page grows while it is scrolled.
    const seen = async (shows: () => Promise<string | null>) => {
      await last.scrollIntoViewIfNeeded();
      return shows();
    };
    const [wordsBefore, barBefore] = [await words(), await bar()];

    await expect.poll(() => seen(words), SOON).not.toBe(wordsBefore);
    await expect.poll(() => seen(bar), SOON).not.toBe(barBefore);
  });
});

/** How long the page has spent so far, in seconds, by the name of Chromium's metric. */
async function seconds(devTools: CDPSession): Promise<(name: string) => number> {
  const { metrics } = await devTools.send('Performance.getMetrics');
  return (wanted) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
}
