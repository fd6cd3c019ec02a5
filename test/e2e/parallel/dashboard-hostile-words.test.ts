/** Words that would run as code in a careless page: typed into every field of its forms, and shown on every page that has words of callers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { buildCall } from '../../support/store/build-call.ts';
import { inStore } from '../../support/store/seed-calls.ts';

/** For what takes few characters. */
const SHORT = '<img src=x onerror="window.hit=1">';

const HOSTILE = [
  SHORT,
  '"><svg onload="window.hit=1">',
  '<script>window.hit=1</script>',
  '</textarea><iframe srcdoc="<script>parent.hit=1</script>">',
  "javascript:window.hit=1//'-window.hit=1-'",
  '{{constructor.constructor("window.hit=1")()}}',
].join(' ');

const TRUNK = {
  ...{ name: 'acme', proxy: '127.0.0.1:9', optionsIntervalSeconds: 0 },
  numbers: ['+12025550123'],
};

const CALL_ID = 'call_hostile';

const FIELDS = [
  'textarea:visible',
  ...['text', 'search', 'url', 'tel'].map((type) => `input[type=${type}]:visible`),
].join(', ');

/** A machine that is shared is given its time. */
const SOON = { timeout: 20_000 };

describeWith(['chromium'], 'hostile words in the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-hostile-'));
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId = '';
  let campaignId = '';

  beforeAll(async () => {
    buildDashboard();
    const trunks = join(folder, 'trunks.json');
    writeFileSync(trunks, JSON.stringify([TRUNK]));
    server = await (await startServer({ environment: { SIP_TRUNKS: trunks } })).ready();
    const words = {
      name: SHORT,
      phoneNumber: '+12025550123',
      greeting: HOSTILE,
      systemPrompt: HOSTILE,
    };
    agentId = await server.createAgent({ ...words, successCriteria: HOSTILE });
    await seedHostileCall(server, agentId);
    const note = { tags: [SHORT], note: HOSTILE };
    await server.api('PATCH', `/api/calls/${CALL_ID}`, note);
    const contacts = [{ to: '+12025550188', metadata: { name: HOSTILE } }];
    const notBefore = new Date(Date.now() + 86_400_000).toISOString();
    const campaign = { name: SHORT, agentId, contacts, notBefore };
    campaignId = String((await server.api('POST', '/api/campaigns', campaign)).body.id);
    const text = { name: SHORT, text: HOSTILE };
    await server.api('POST', `/api/agents/${agentId}/knowledge`, text);
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  const show = async (hash: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  };

  /** What has become an element, or has run. */
  const harm = () =>
    page.evaluate(`({
      hit: window.hit,
      elements: document.querySelectorAll('img[src="x"], svg[onload], iframe, body script').length,
    })`);

  const fillAll = async (where = 'main') => {
    const found = page.locator(where).locator(FIELDS);
    await found.first().waitFor();
    const fields = await found.all();
    for (const field of fields) await field.fill(HOSTILE);
    return fields.length;
  };

  test.each([
    ['agents/new', 'Create agent', 6],
    ['agents/{agent}', 'Publish', 6],
    ['tools/+', 'Create tool', 5],
    ['calendars/+', 'Create calendar', 1],
    ['campaigns/new', 'Start campaign', 3],
    [`calls/${CALL_ID}`, 'Save tags and note', 2],
  ])('typed into every field of #/%s, they stay words', async (hash, button, leastFields) => {
    await show(hash.replace('{agent}', agentId));

    const fieldCount = await fillAll();
    // Where a list is wrong its button is disabled.
    await page.getByRole('button', { name: button, exact: true }).dispatchEvent('click');
    await page.evaluate('new Promise(requestAnimationFrame)');

    expect(fieldCount).toBeGreaterThanOrEqual(leastFields);
    expect(await harm()).toEqual({ hit: undefined, elements: 0 });
  });

  test.each([
    ['calls', 'Place a call', 'Call', 3],
    ['knowledge', 'Add document', 'Add document', 2],
  ])('typed into the window of #/%s, they stay words', async (hash, open, send, leastFields) => {
    await show(hash);
    await page.getByRole('button', { name: open, exact: true }).click();

    const fieldCount = await fillAll('dialog');
    await page.getByRole('dialog').getByRole('button', { name: send }).last().click();
    await page.evaluate('new Promise(requestAnimationFrame)');
    await page.keyboard.press('Escape');

    expect(fieldCount).toBeGreaterThanOrEqual(leastFields);
    expect(await harm()).toEqual({ hit: undefined, elements: 0 });
  });

  test.each([
    'overview',
    'calls',
    'campaigns',
    'campaigns/{campaign}',
    'agents',
    'agents/{agent}',
    'knowledge/{agent}',
    'analytics',
  ])('shown on #/%s, they stay words', async (hash) => {
    await show(hash.replace('{agent}', agentId).replace('{campaign}', campaignId));
    await page
      .getByText('<img src=x')
      .first()
      .waitFor({ state: 'attached', ...SOON });

    expect(await harm()).toEqual({ hit: undefined, elements: 0 });
  });

  test('shown on the page of a call, with each of its tabs, they stay words', async () => {
    await show(`calls/${CALL_ID}`);
    await page.locator('.said').first().waitFor();

    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      expect(await harm()).toEqual({ hit: undefined, elements: 0 });
    }

    expect(await page.locator('main').textContent()).toContain(HOSTILE);
  });

  test('the search of pages and calls takes them as words', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(HOSTILE);
    await page.getByText('Nothing found.').waitFor();

    expect(await harm()).toEqual({ hit: undefined, elements: 0 });
  });

  test('the policy had nothing to forbid', () => {
    expect(shown.complaints).toEqual([]);
  });
});

/** A call on which everything that comes from outside is hostile. */
async function seedHostileCall(server: TestServer, agentId: string): Promise<void> {
  const startedAt = new Date(Date.now() - 60_000);
  const at = (seconds: number) => new Date(startedAt.getTime() + seconds * 1000);
  await inStore(server, async ({ calls }, accountId) => {
    const call = buildCall({
      ...{ id: CALL_ID, accountId, agentId, from: HOSTILE, to: HOSTILE },
      ...({ status: 'completed', endReason: 'user_hangup', durationSeconds: 30 } as const),
      ...{ createdAt: startedAt, startedAt, answeredAt: startedAt, endedAt: at(30) },
      ...{ failureReason: HOSTILE, summary: HOSTILE, intentDetected: HOSTILE },
      ...{ success: { met: false, reason: HOSTILE }, extracted: { [HOSTILE]: HOSTILE } },
      metadata: { sip: { headers: { 'x-note': HOSTILE } } },
    });
    await calls.insert(call, []);
    await calls.addTranscriptEntry(CALL_ID, { role: 'user', text: HOSTILE, at: at(2) });
    const tool = { name: HOSTILE, outcome: HOSTILE, tookMs: 2 };
    await calls.addTimelineEntry(CALL_ID, { at: at(3), kind: 'tool', details: tool });
    await calls.addTimelineEntry(CALL_ID, { at: at(4), kind: HOSTILE, details: { why: HOSTILE } });
  });
}
