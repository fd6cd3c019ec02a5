/** The analytics in a browser: charts by mouse and keyboard, at any width and theme, in the browser's time zone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { buildCall } from '../../support/store/build-call.ts';
import { inStore, seedCalls } from '../../support/store/seed-calls.ts';

const DAY_MS = 86_400_000;

/** A machine that is shared is given its time. */
const SOON = { timeout: 10_000 };

/** Of each day: an answered call with four turns, one that was missed and one that broke off. */
const OUTCOMES = [
  { status: 'completed', endReason: 'user_hangup', durationSeconds: 60 },
  { status: 'failed', endReason: 'no_answer', answeredAt: null },
  { status: 'failed', endReason: 'error', durationSeconds: 5 },
] as const;

/** Of each turn: recognition takes 100 ms, the language model 200 ms, the voice 50 ms. */
const MARKS = { endOfTurnMs: 30, textFinalMs: 130, firstClauseMs: 330, firstAudioMs: 380 };

async function seedDays(server: TestServer, agentId: string, days: number): Promise<void> {
  const nowMs = Date.now();
  await inStore(server, async (store, accountId) => {
    for (let day = 0; day < days; day += 1) {
      const startedAt = new Date(nowMs - day * DAY_MS);
      const common = { accountId, agentId, startedAt, createdAt: startedAt, answeredAt: startedAt };
      for (const [number, outcome] of OUTCOMES.entries()) {
        const { status, ...end } = outcome;
        const call = buildCall({ ...common, id: `call_${day}_${number}`, status: 'in_progress' });
        await store.calls.insert(call, []);
        for (const firstPacketMs of [400, 500, 600, 900]) {
          const details = { ...MARKS, firstPacketMs };
          const entry = { at: startedAt, kind: 'turn', details };
          if (status === 'completed') await store.calls.addTimelineEntry(call.id, entry);
        }
        await store.calls.update({ ...call, ...end, status, endedAt: new Date(nowMs) }, []);
      }
    }
  });
}

describeWith(['chromium'], 'the analytics', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    const agentId = await server.createAgent({ name: 'Front desk' });
    await server.createAgent({ name: 'Idle', phoneNumber: '+12025550124' });
    await seedDays(server, agentId, 10);
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    await page.goto(`${server.baseUrl}/#/analytics`);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const plot = (label: string) => page.getByRole('slider', { name: label });

  const picture = (label: string) =>
    page.evaluate(`document.querySelector('[aria-label="${label}"] canvas').toDataURL()`);

  const figures = () => page.locator('.figures dd').allTextContents();

  test('show four figures with the change against the period before', async () => {
    await page.getByLabel('Period').selectOption('last_7_days');

    // Three of the days before have calls: 9 then, 21 now.
    await expect
      .poll(figures, SOON)
      .toEqual([
        '21+133% before: 9',
        '33%0 points before: 33%',
        '0:320% before: 0:32',
        '0.5s0% before: 0.5s',
      ]);
  });

  test('show what is under the mouse, and what the arrow keys reach', async () => {
    const legend = page.getByRole('region', { name: 'Calls per day' }).locator('.legend');
    await plot('Calls per day').hover();
    await expect.poll(() => legend.textContent(), SOON).toContain('Missed 1');

    await plot('Calls per day').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');

    const text = 'Completed 1, Missed 1, Failed 1';
    await expect.poll(() => plot('Calls per day').getAttribute('aria-valuetext')).toContain(text);
    expect(await plot('Calls per day').getAttribute('aria-valuenow')).toBe('5');
  });

  test('have the figures of each chart as a table', async () => {
    const section = page.getByRole('region', { name: 'Answer time' });
    await section.getByText('As a table').click();

    const rows = await section.locator('tbody tr').allTextContents();

    expect(rows).toHaveLength(7);
    expect(rows.at(-1)).toMatch(/40\.5s0\.93s$/);
  });

  test('show the callers’ wait per engine, side by side', async () => {
    const median = plot('Median by engine');
    await median.focus();
    await page.keyboard.press('End');

    const text = 'Recognition 0.1s, Language model 0.2s, Voice 0.05s';
    await expect.poll(() => median.getAttribute('aria-valuetext'), SOON).toContain(text);
    const p95 = await plot('95th percentile by engine').boundingBox();
    expect((await median.boundingBox())?.y).toBe(p95?.y);
    await shown.picture('analytics-engines');
  });

  test('are drawn again at another width, and in the colours of another theme', async () => {
    const wide = await picture('Calls per day');
    await page.setViewportSize({ width: 400, height: 900 });
    await expect.poll(() => picture('Calls per day'), SOON).not.toBe(wide);
    const narrow = await picture('Calls per day');
    expect(await shown.isTooWide()).toBe(false);
    await page.setViewportSize({ width: 1280, height: 900 });

    await page.emulateMedia({ colorScheme: 'dark' });

    await expect.poll(() => picture('Calls per day'), SOON).not.toBe(wide);
    expect(await picture('Calls per day')).not.toBe(narrow);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  test('draw nothing for an agent without calls, and say so', async () => {
    await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Idle' });

    await page.getByText('No calls in this period').waitFor();
    expect(await page.locator('.figures, canvas').count()).toBe(0);
    await page.getByLabel('Agent', { exact: true }).selectOption('');
    await plot('Calls per day').waitFor();
  });

  test('ask for days and hours of the browser’s time zone, and name it', async () => {
    const asked = page.waitForRequest(/analytics\/details/);
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kathmandu' });
    await page.reload();

    expect(new URL((await asked).url()).searchParams.get('timeZone')).toMatch(/^Asia\/Kat/);
    await page.getByText(/time zone of your browser: Asia\/Kat/).waitFor();
  });

  test('ask for days of the account’s own time zone where it has one', async () => {
    const callingHours = { days: ['mon'], from: '09:00', until: '18:00', timeZone: 'Europe/Rome' };
    await server.api('PATCH', '/api/account', { callingHours });
    const asked = page.waitForRequest(/analytics\/details/);

    await page.reload();

    expect(new URL((await asked).url()).searchParams.get('timeZone')).toBe('Europe/Rome');
    await page.getByText(/calling hours: Europe\/Rome/).waitFor();
    await server.api('PATCH', '/api/account', { callingHours: null });
  });

  test('keep the calls of an agent that is deleted, in a row that leads nowhere', async () => {
    const agentId = await server.createAgent({ name: 'Gone', phoneNumber: '+12025550125' });
    await seedCalls(server, { agentId, count: 1 });
    await server.api('DELETE', `/api/agents/${agentId}`);
    await page.goto(`${server.baseUrl}/#/analytics`);
    await page.reload();

    const row = page.getByRole('row', { name: /^Deleted agents/ });
    await row.waitFor();

    expect(await row.getByRole('cell').nth(1).textContent()).toBe('1');
    expect(await row.getByRole('link').count()).toBe(0);
  });

  test('are found free of faults, and the policy had nothing to forbid', async () => {
    await plot('Calls per day').waitFor();

    expect(await shown.findings()).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });
});
