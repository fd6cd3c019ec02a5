/** The dashboard with much to show: ten thousand calls in the list, and fifty that go on at a time. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { type Frames, framesWhile } from '../../support/dashboard/frames.ts';
import { describeWith } from '../../support/server/programs.ts';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls, seedTalk } from '../../support/store/seed-calls.ts';

const CALLS = 10_000;
const LIVE_CALLS = 50;
const TURNS = 60;

const FIRST_ROWS_MS_MAX = 1000;
const TRIES = 3;

/**
 * Of the frames of a page that has much to do: more late ones than an empty page had at the same time. A machine that is
 * shared draws slowly by itself, and evens out between two pages only so far.
 */
const LATE_SHARE_MAX = 0.05;

/** Of the time, that the page's own code may take: a reader's click waits for no longer than that. */
const SCRIPT_SHARE_MAX = 0.25;

const WATCH_MS = 4000;

/** Fifty transcripts of forty entries each, and what a browser keeps for itself. */
const GROWTH_BYTES_MAX = 12_000_000;

/** Says when the first row of the list is there, however it comes about. */
const WHEN_ROWS = `new MutationObserver((_, observer) => {
  if (document.querySelector('tbody tr') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => { window.rowsAtMs = performance.now(); });
}).observe(document, { childList: true, subtree: true })`;

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A machine that is shared is given its time. */
const SOON = { timeout: 10_000 };

describeWith(['chromium'], 'the dashboard under load', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let empty: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer({ environment: { SANDBOX_SPEED: '1' } })).ready();
    const agentId = await server.createAgent();
    await seedCalls(server, { agentId, count: CALLS });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    // In a window of its own, so that both are in sight and draw.
    empty = await (await browser.newContext()).newPage();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** Late frames beyond those that the machine causes by itself, as a share of all. */
  const stutter = (frames: Frames, idle: Frames) =>
    Math.max(0, frames.late / frames.count - idle.late / idle.count);

  const report = (what: string, frames: Frames, idle: Frames) =>
    process.stdout.write(`${what}: ${JSON.stringify({ frames, idle })}\n`);

  test('the first of ten thousand calls are seen within a second, and so is any page of them', async () => {
    await page.addInitScript(WHEN_ROWS);
    await page.goto(`${server.baseUrl}/#/calls`);
    const tries: number[] = [];
    for (let times = 0; times < TRIES; times += 1) {
      await page.reload();
      await expect.poll(() => page.evaluate('window.rowsAtMs ?? 0'), SOON).toBeGreaterThan(0);
      tries.push(Number(await page.evaluate('window.rowsAtMs')));
    }
    // The quietest: a neighbour on the machine is not the page's slowness.
    const rowsMs = Math.min(...tries);
    await page.getByText('1–50 of 10,000').waitFor();
    const askedAtMs = performance.now();
    await page.goto(`${server.baseUrl}/#/calls?offset=9950`);
    await page.getByText('9,951–10,000 of 10,000').waitFor();
    const lastMs = performance.now() - askedAtMs;

    process.stdout.write(
      `first rows after ${rowsMs.toFixed(0)} ms, last after ${lastMs.toFixed(0)} ms\n`,
    );
    expect(rowsMs).toBeLessThan(FIRST_ROWS_MS_MAX);
    expect(lastMs).toBeLessThan(FIRST_ROWS_MS_MAX);
  });

  test('the list scrolls as smoothly as an empty page', async () => {
    const scroll = async () => {
      await page.mouse.move(700, 500);
      for (let step = 0; step < 60; step += 1) {
        await page.mouse.wheel(0, step < 30 ? 60 : -60);
        await later(16);
      }
    };

    const [idle, frames] = await Promise.all([
      framesWhile(empty, () => later(1500)),
      framesWhile(page, scroll),
    ]);

    report('scrolling', frames, idle);
    expect(await page.evaluate('document.querySelectorAll("tbody tr").length')).toBe(50);
    expect(stutter(frames, idle)).toBeLessThan(LATE_SHARE_MAX);
  });

  test('a long transcript follows its recording, until the reader scrolls, and again when asked', async () => {
    const agentId = await server.createAgent({ phoneNumber: '+12025550124' });
    const id = await seedTalk(server, { agentId, turns: TURNS });
    const box = page.getByRole('group', { name: 'Transcript' });
    const current = page.locator('.said[aria-current]');
    const isCurrentSeen = async () => {
      const [inside, around] = [await current.boundingBox(), await box.boundingBox()];
      if (inside === null || around === null) return false;
      return inside.y >= around.y && inside.y + inside.height <= around.y + around.height;
    };
    await page.goto(`${server.baseUrl}/#/calls/${id}`);
    await page.getByRole('button', { name: 'Play', exact: true }).click();

    await page
      .getByTitle('Play from here')
      .nth(TURNS - 10)
      .click();
    await expect.poll(isCurrentSeen, SOON).toBe(true);
    await box.hover();
    await page.mouse.wheel(0, -2000);
    const again = page.getByRole('button', { name: 'Follow the recording again' });
    await again.waitFor();
    const before = await current.textContent();
    await expect.poll(() => current.textContent(), { timeout: 5000 }).not.toBe(before);
    const isSeenAway = await isCurrentSeen();
    await again.click();

    await expect.poll(isCurrentSeen, SOON).toBe(true);
    expect(isSeenAway).toBe(false);
  });

  test('fifty calls are watched while they go on, and the page stays quick and small', async () => {
    const client = new SandboxClient(server);
    const agentId = await client.createAgent();
    await page.getByText('Test', { exact: true }).click();
    await page.goto(`${server.baseUrl}/#/live`);
    await page.getByText('Connected').waitFor();
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Performance.enable');

    await Promise.all(
      Array.from({ length: LIVE_CALLS }, () =>
        client.request('POST', '/api/sandbox/calls/inbound', { agentId, scenario: 'friendly' }),
      ),
    );
    await expect
      .poll(() => page.getByText('in progress', { exact: true }).count(), { timeout: 20_000 })
      .toBe(LIVE_CALLS);
    const before = await heapBytes(devTools);
    const scriptBefore = await scriptSeconds(devTools);
    const words = () => page.locator('.said').count();
    const wordsBefore = await words();
    const [idle, frames] = await Promise.all([
      framesWhile(empty, () => later(WATCH_MS)),
      framesWhile(page, () => later(WATCH_MS)),
    ]);
    const scriptMs = ((await scriptSeconds(devTools)) - scriptBefore) * 1000;
    const askedAtMs = performance.now();
    await page.getByRole('button', { name: 'Hang up' }).first().click();
    await page.getByRole('dialog').waitFor();
    const answeredMs = performance.now() - askedAtMs;
    const growth = (await heapBytes(devTools)) - before;

    report('fifty live calls', frames, idle);
    const figures = { dialogAfterMs: answeredMs, heapGrewBy: growth, scriptMs };
    process.stdout.write(`fifty live calls: ${JSON.stringify(figures)}\n`);
    expect(await words()).toBeGreaterThan(wordsBefore);
    expect(stutter(frames, idle)).toBeLessThan(LATE_SHARE_MAX);
    expect(scriptMs / WATCH_MS).toBeLessThan(SCRIPT_SHARE_MAX);
    expect(answeredMs).toBeLessThan(1000);
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
    await shown.picture('live-fifty');
  });
});

/** Of what is still in use. */
async function heapBytes(devTools: CDPSession): Promise<number> {
  await devTools.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await devTools.send('Runtime.getHeapUsage')) as { usedSize: number };
  return usedSize;
}

/** How long the page's code has run so far. */
async function scriptSeconds(devTools: CDPSession): Promise<number> {
  const { metrics } = await devTools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN;
}
