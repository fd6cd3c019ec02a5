/** What carriers charge, in a browser: the price in a trunk's form, the cost of a call, its sums, and its file. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { buildCall } from '../../support/store/build-call.ts';
import { inStore } from '../../support/store/seed-calls.ts';

const DAY_MS = 86_400_000;

const SOON = { timeout: 10_000 };

/** Calls of a minute each, by the days since they were; what has no cost is the other agent's. */
const COSTS = [
  [0, { micros: 1_234_000, currency: 'EUR' }],
  [0, { micros: 266_033, currency: 'EUR' }],
  [0, null],
  [8, { micros: 1_000_000, currency: 'EUR' }],
] as const;

async function seedCosts(server: TestServer): Promise<void> {
  const [day, night] = [
    await server.createAgent({ name: 'Front desk' }),
    await server.createAgent({ name: 'Night desk', phoneNumber: '+12025550124' }),
  ];
  await inStore(server, async (store, accountId) => {
    for (const [number, [days, cost]] of COSTS.entries()) {
      const startedAt = new Date(Date.now() - days * DAY_MS - 120_000);
      const endedAt = new Date(startedAt.getTime() + 60_000);
      const times = { createdAt: startedAt, startedAt, answeredAt: startedAt, endedAt };
      const end = { status: 'completed', endReason: 'user_hangup', durationSeconds: 60 } as const;
      const ids = { id: `call_${number}`, accountId, agentId: cost === null ? night : day };
      await store.calls.insert(buildCall({ ...ids, ...times, ...end, cost }), []);
    }
  });
}

describeWith(['chromium'], 'what carriers charge, in the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    await seedCosts(server);
    const trunk = { name: 'acme', proxy: '127.0.0.1:9', optionsIntervalSeconds: 0 };
    await server.api('POST', '/api/trunks', trunk);
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const field = (label: string) => page.getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const priceOf = async () => (await server.api('GET', '/api/trunks/acme')).body.price;

  test('a trunk without a price has its fields folded, and takes one', async () => {
    await page.goto(`${server.baseUrl}/#/trunks/acme`);
    const perMinute = field('Outbound: price per minute');
    await perMinute.waitFor({ state: 'attached' });
    const isFolded = !(await perMinute.isVisible());
    await page.getByText('What the carrier charges', { exact: true }).click();

    await perMinute.fill('0.012');
    await field('Outbound: currency').fill('eur');
    await shown.picture('trunk-price');
    await press('Save');
    await page.getByText('Trunk saved').waitFor();

    expect(isFolded).toBe(true);
    expect(await priceOf()).toEqual({
      inbound: null,
      outbound: { perMinute: 0.012, currency: 'EUR', incrementSeconds: 60, connection: 0 },
    });
    expect(await shown.findings()).toEqual([]);
  });

  test('a wrong price is told at its field, and an emptied one is taken away', async () => {
    await page.reload();
    const perMinute = field('Outbound: price per minute');
    await perMinute.waitFor();
    await perMinute.fill('101');
    await press('Save');
    await expect.poll(() => perMinute.getAttribute('aria-invalid'), SOON).toBe('true');
    const kept = await priceOf();

    await perMinute.fill('');
    await field('Outbound: price per call').fill('');
    await press('Save');
    await expect.poll(priceOf, SOON).toBeNull();

    expect(kept).toMatchObject({ outbound: { perMinute: 0.012 } });
  });

  test('the page of a call shows its cost among the facts, and nothing where there is none', async () => {
    const facts = page.getByRole('region', { name: 'Details', exact: true });
    await page.goto(`${server.baseUrl}/#/calls/call_1`);
    await facts.getByText('€0.266033').waitFor();

    await page.goto(`${server.baseUrl}/#/calls/call_2`);
    await facts.getByRole('code').getByText('call_2').waitFor();

    expect(await facts.getByText('Cost', { exact: true }).count()).toBe(0);
  });

  test('analytics show the cost of the period, with the change against the period before', async () => {
    await page.goto(`${server.baseUrl}/#/analytics`);
    await page.getByLabel('Period').selectOption('last_7_days');
    const figure = page.locator('.figures div', { hasText: 'Cost in EUR' });

    await expect.poll(() => figure.textContent(), SOON).toBe('Cost in EUR€1.50+50% before: €1.00');
    const findings = await shown.findings();
    await shown.picture('analytics-costs');
    await field('Agent').selectOption('Night desk');

    await expect.poll(() => page.locator('.figures div').count(), SOON).toBe(4);
    expect(findings).toEqual([]);
  });

  test('the table of calls has the cost as the API has it', async () => {
    await page.goto(`${server.baseUrl}/#/calls`);

    const [file] = await Promise.all([page.waitForEvent('download'), press('Export CSV')]);
    const rows = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');

    const last = (row = '') => row.split(',').slice(-3);
    expect(last(rows[0])).toEqual(['agentName', 'cost.amount', 'cost.currency']);
    expect(rows.slice(1).map(last).sort()).toEqual([
      ['Front desk', '0.266033', 'EUR'],
      ['Front desk', '1.0000', 'EUR'],
      ['Front desk', '1.2340', 'EUR'],
      ['Night desk', '', ''],
    ]);
  });

  test('German writes amounts its own way', async () => {
    await shown.choose('Deutsch');
    await page.goto(`${server.baseUrl}/#/calls/call_1`);

    const fact = page.locator('.facts div', { hasText: 'Kosten' });
    await fact.waitFor();

    expect(await fact.textContent()).toBe('Kosten0,266033\u00a0€');
    expect(shown.complaints).toEqual([]);
  });
});
