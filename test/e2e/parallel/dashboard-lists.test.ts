/** What an operator looks after in the dashboard: numbers, trunks, endpoints, the days of the analytics, and taking a call over. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { adminJson } from '../../support/server/admin.ts';
import { describeWith } from '../../support/server/programs.ts';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls, seedTalk } from '../../support/store/seed-calls.ts';

const EVIL = '<img src=x onerror="window.hit=1">';
const [FIRST, SECOND] = ['+12025550123', '+12025550124'];

/** A trunk without a peer, and without OPTIONS probes. */
const TRUNK = {
  name: 'acme',
  proxy: '127.0.0.1:9',
  optionsIntervalSeconds: 0,
  username: 'user',
  password: 'secret',
  numbers: [FIRST, SECOND, '+3906876543*'],
};

/** A machine that is shared is given its time. */
const SOON = { timeout: 10_000 };

describeWith(['chromium'], 'the lists of the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-trunks-'));
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    const trunks = join(folder, 'trunks.json');
    writeFileSync(trunks, JSON.stringify([TRUNK]));
    server = await (
      await startServer({ environment: { SIP_TRUNKS: trunks, SANDBOX_SPEED: '1' } })
    ).ready();
    await server.createAgent({ name: EVIL, phoneNumber: FIRST });
    const agentId = await server.createAgent({ name: 'Night', phoneNumber: undefined });
    await seedCalls(server, { agentId, count: 3 });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  const go = async (name: string, title = name) => {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
  };

  const answerer = (number: string) => page.getByLabel(`Who answers ${number}`);
  const chosen = (number: string) => answerer(number).locator('option:checked').textContent();

  test('the System page says which engines stand in, what callers notice, and what to do', async () => {
    await go('System');

    const row = page.getByRole('row', { name: 'Language model' }).first();
    await expect.poll(() => row.textContent(), SOON).toContain('scripted/');
    expect(await row.textContent()).toContain(
      'A rule book answers instead of a language model; it ignores the agent’s instructions.',
    );
    expect(await row.locator('.state').textContent()).toBe('stand-in');
    expect(await page.getByText(/of 5 engines are stand-ins/).isVisible()).toBe(true);
    expect(await page.getByText('Better: whisper. Run “npm run models”').isVisible()).toBe(true);
  });

  test('a number is given to an agent, moved to another, and freed', async () => {
    await go('Numbers', 'Phone numbers');
    await answerer(FIRST).waitFor();
    await expect.poll(() => chosen(FIRST), SOON).toBe(EVIL);

    await answerer(SECOND).selectOption('Night');
    await expect.poll(() => chosen(SECOND), SOON).toBe('Night');
    await answerer(SECOND).selectOption('Unassigned');
    await expect.poll(() => chosen(SECOND), SOON).toBe('Unassigned');
    await answerer(FIRST).selectOption('Night');
    await expect.poll(() => chosen(FIRST), SOON).toBe('Night');

    await page.getByRole('cell', { name: 'each agent’s own number' }).waitFor();
    const { body } = await server.api('GET', '/api/agents');
    const numbers = (body.data as { name: string; phoneNumber: string | null }[]).map(
      ({ name, phoneNumber }) => [name, phoneNumber],
    );
    expect(numbers).toContainEqual(['Night', FIRST]);
    expect(numbers).toContainEqual([EVIL, null]);
    expect(await shown.findings()).toEqual([]);
    await shown.picture('numbers');
  });

  test('a trunk says how it is, and never its password', async () => {
    await go('Trunks');
    const row = page.getByRole('row', { name: /127\.0\.0\.1:9/ });

    await row.getByText('ready', { exact: true }).first().waitFor();

    expect(await row.textContent()).toContain('acme');
    expect(await page.content()).not.toContain(TRUNK.password);
    expect(await shown.findings()).toEqual([]);
    await shown.picture('trunks');
  });

  test('an endpoint is changed: refused at its field, then saved', async () => {
    await go('Webhooks');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add endpoint' }).first().click();
    await dialog.getByLabel('URL', { exact: true }).fill('https://example.com/one');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('link', { name: 'https://example.com/one' }).first().click();
    await page.getByRole('button', { name: 'Edit' }).click();

    await dialog.getByLabel('URL', { exact: true }).fill('not an address');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('URL', { exact: true }).fill('https://example.com/two');
    await dialog.getByLabel('Description').fill(EVIL);
    await dialog.getByLabel('call.started').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });

    await page.getByRole('heading', { name: 'https://example.com/two' }).waitFor();
    const facts = page.getByRole('region', { name: 'Endpoint' });
    await facts.getByText(EVIL).waitFor();
    expect(await facts.textContent()).not.toContain('call.started');
  });

  test('the analytics add up the days that were chosen', async () => {
    await go('Analytics');
    const total = page.locator('.figures dd').first();
    await page.getByLabel('Period').selectOption('custom');

    await expect.poll(() => total.textContent(), SOON).toBe('3');
    await page.getByLabel('To', { exact: true }).fill('2020-01-02');
    await page.getByText('expected a day that is not before startDate').first().waitFor();
    await page.getByLabel('From', { exact: true }).fill('2020-01-01');
    await page.getByText('No calls in this period').waitFor();

    expect(await shown.findings()).toEqual([]);
  });

  test('a call is deleted, once that is confirmed', async () => {
    await page.goto(`${server.baseUrl}/#/calls/call_seeded2`);
    const button = page.getByRole('button', { name: 'Delete call' });

    await button.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    const kept = await server.api('GET', '/api/calls/call_seeded2');
    await button.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete call' }).click();
    await page.getByText('Call deleted', { exact: true }).waitFor();

    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    const gone = await server.api('GET', '/api/calls/call_seeded2');
    expect([kept.status, gone.status]).toEqual([200, 404]);
    expect(await shown.findings()).toEqual([]);
  });

  test('numbers say whose they are, where there are several accounts', async () => {
    await go('Numbers', 'Phone numbers');
    const before = await page.getByRole('columnheader', { name: 'Account' }).count();
    const { id } = await adminJson(server.dataDir, ['account', 'create', '--name', 'Second']);
    const path = `/api/phone-numbers/${SECOND}`;
    await server.api('PUT', path, { accountId: id });
    await page.reload();

    const row = page.getByRole('row', { name: SECOND });
    await row.getByText('Unassigned; belongs to another account').waitFor();

    expect(before).toBe(0);
    expect(await row.getByRole('cell').nth(1).textContent()).toBe('Second');
    const first = page.getByRole('row', { name: FIRST });
    expect(await first.getByRole('cell').nth(1).textContent()).toBe('Default');
    expect(await shown.findings()).toEqual([]);
  });

  test('a call is taken over by a number that is asked for, and cached in this window', async () => {
    const client = new SandboxClient(server);
    const agentId = await client.createAgent();
    await page.getByText('Test', { exact: true }).click();
    await go('Live', 'Live calls');
    const ring = { agentId, scenario: 'friendly' };
    await client.request('POST', '/api/sandbox/calls/inbound', ring);
    const card = page.getByRole('article');
    await card.getByText('in progress').waitFor();

    await page.getByRole('button', { name: 'Take over' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your number').fill(EVIL);
    await dialog.getByRole('button', { name: 'Transfer the call' }).click();
    await dialog.getByRole('alert').waitFor();
    const findings = await shown.findings();
    await shown.picture('transfer');
    await dialog.getByLabel('Your number').fill('+1 202 555-0177');
    await dialog.getByRole('button', { name: 'Transfer the call' }).click();
    await page.getByText('The call is being transferred').waitFor();

    await card.getByText('completed').waitFor();
    const { body } = await client.request('GET', '/api/calls');
    expect(body.data[0]?.endReason).toBe('transferred');
    expect(findings).toEqual([]);
    expect(await page.evaluate('sessionStorage.getItem("offhook.transferTo")')).toBe(
      '+12025550177',
    );
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('0177');
  });

  test('the page of a transferred call shows when the agent left', async () => {
    await page.getByRole('article').getByRole('link').first().click();

    await page.getByText(/connected with the caller at \d+:\d\d, without the agent/).waitFor();
  });

  test('a recording that was cut short says so', async () => {
    const agentId = await server.createAgent({ phoneNumber: undefined });
    const id = await seedTalk(server, { agentId, turns: 1, recordingTruncated: true });
    await page.goto(`${server.baseUrl}/#/calls/${id}?environment=live`);

    await page.getByText('The recording ends before the call does').waitFor();

    expect(await shown.findings()).toEqual([]);
  });

  test('no user input has run as code', async () => {
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(shown.complaints).toEqual([]);
  });
});
