/** The page of a call that is over: what stands between its words, its tabs, what is copied, and what is left out. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { inStore, seedCalls, seedTalk } from '../../support/store/seed-calls.ts';

describeWith(['chromium'], 'the page of a call', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    const agentId = await server.createAgent();
    await seedCalls(server, { agentId, count: 1 });
    await addTurns(server, await seedTalk(server, { agentId, turns: 12 }));
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const show = async (callId: string) => {
    await page.goto(`${server.baseUrl}/#/calls/${callId}`);
    await page.getByRole('heading', { level: 1, name: /→/ }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  };

  const copied = () => page.evaluate('navigator.clipboard.readText()');

  test('a tool and an interruption stand between the words, a time to answer at its words', async () => {
    await show('call_seededTalk');

    const lines = await page.locator('.words > li').allTextContents();

    expect(lines.slice(2, 6)).toEqual([
      expect.stringContaining('These are the words 2.'),
      'Interruption',
      'Tool: end the call · done · 12 ms',
      expect.stringContaining('These are the words 3.'),
    ]);
    expect(lines[2]).toContain('after 0.8s');
  });

  test('sound and words are left of the facts, and the player stays in sight', async () => {
    const player = page.getByRole('region', { name: 'Recording' });
    const facts = await page.getByRole('region', { name: 'Details', exact: true }).boundingBox();
    const before = await player.boundingBox();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');

    await expect.poll(async () => (await player.boundingBox())?.y).toBeGreaterThanOrEqual(0);

    expect(facts?.x).toBeGreaterThan((before?.x ?? 0) + (before?.width ?? 0));
    await page.evaluate('scrollTo(0, 0)');
  });

  test('tabs are chosen by arrow keys; the median and the longest answer come first', async () => {
    const panel = page.getByRole('tabpanel');
    const [median, longest] = await panel.locator('.figures div').allTextContents();

    await page.getByRole('tab', { name: 'Response times' }).press('ArrowRight');
    await panel.getByRole('cell', { name: 'end the call' }).waitFor();
    const focused = await page.evaluate('document.activeElement.textContent');

    expect(median).toBe('Median time to answer1,400 ms');
    expect(longest).toMatch(/^Longest, at 0:0\d2,000 ms$/);
    expect(focused).toBe('Tools');
    expect(await page.getByRole('tab').allTextContents()).toEqual([
      ...['Response times', 'Tools', 'Timeline'],
    ]);
  });

  test('numbers, the ID and the words are copied by their buttons', async () => {
    await page.getByRole('button', { name: 'Copy call_seededTalk' }).click();
    const id = await copied();

    await page.getByRole('button', { name: 'Copy transcript' }).click();

    await expect.poll(copied).toContain('Agent: These are the words 0.\nCaller: These are');
    expect(id).toBe('call_seededTalk');
  });

  test('what a call does not have is not drawn', async () => {
    await show('call_seeded0');

    const titles = await page.locator('main h2').allTextContents();

    expect(titles).toEqual(['Details', 'Tags and note']);
    expect(await shown.findings()).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });
});

/** Two turns, the first with an interruption and a tool behind it. */
async function addTurns(server: TestServer, callId: string): Promise<void> {
  await inStore(server, async ({ calls }) => {
    const call = await calls.findById(callId);
    const beganMs = call?.startedAt?.getTime() ?? 0;
    const add = (afterMs: number, kind: string, details: Readonly<Record<string, unknown>>) =>
      calls.addTimelineEntry(callId, { at: new Date(beganMs + afterMs), kind, details });
    const marks = { speculated: false, endOfTurnMs: 300, firstTokenMs: 500 };
    await add(4010, 'turn', { ...marks, turn: 1, firstPacketMs: 800 });
    await add(4500, 'barge_in', {});
    await add(5000, 'tool', { name: 'end_call', outcome: 'done', tookMs: 12 });
    await add(8010, 'turn', { ...marks, turn: 2, firstPacketMs: 2000 });
  });
}
