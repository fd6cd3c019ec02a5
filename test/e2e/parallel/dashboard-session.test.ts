/** A session that ends under an open page of the dashboard: the server is killed and started again while a form is open. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls } from '../../support/store/seed-calls.ts';

const LIST = 'List: first line with column names, one of them “to”';

const PASSWORD = 'correct horse battery';

/** A machine that is shared is given its time. */
const SOON = { timeout: 20_000 };

describeWith(['chromium'], 'a session that ends', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-session-'));
  let server: TestServer;
  let baseUrl = '';
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId = '';

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer({ dataDir })).ready();
    ({ baseUrl } = server);
    agentId = await server.createAgent({ name: 'Front desk' });
    await seedCalls(server, { agentId, count: 1 });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** At the same address, with the same data. */
  const killAndStart = async () => {
    server.kill('SIGKILL');
    await server.exited;
    server = await startServer({ dataDir, environment: { PORT: new URL(baseUrl).port } });
    await expect
      .poll(
        () =>
          fetch(`${baseUrl}/healthz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        SOON,
      )
      .toBe(true);
  };

  const show = async (hash: string) => {
    await page.goto(`${baseUrl}/#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  };

  const over = () => page.getByRole('dialog', { name: 'Your session has ended' });

  const signInAgain = async () => {
    await over().getByLabel('Password').fill(PASSWORD);
    await over().getByRole('button', { name: 'Sign in' }).click();
    await over().waitFor({ state: 'detached' });
  };

  test('an agent that is edited while the server is killed and started again loses no word', async () => {
    await show(`agents/${agentId}`);
    await page.getByLabel('Greeting').fill('Words that must not get lost.');
    await killAndStart();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await over().waitFor(SOON);
    const findings = await shown.findings();
    await shown.picture('session-over');

    await signInAgain();
    const typed = await page.getByLabel('Greeting').inputValue();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Agent published').waitFor(SOON);

    const saved = await fetch(`${baseUrl}/api/agents/${agentId}`, {
      headers: { authorization: `Bearer svc_live_${'L'.repeat(32)}` },
    });
    expect(typed).toBe('Words that must not get lost.');
    expect(await saved.json()).toMatchObject({ greeting: 'Words that must not get lost.' });
    expect(findings).toEqual([]);
  });

  test.each([
    ['a note on a call', 'calls/call_seeded0', 'Save tags and note', { Note: 'Call back.' }],
    [
      ...(['a tool', 'tools/+', 'Create tool'] as const),
      { Name: 'order_status', Description: 'Looks up an order.', URL: 'https://example.com/' },
    ],
    [
      ...(['a campaign', 'campaigns/new', 'Start campaign'] as const),
      { Name: 'Reminders', [LIST]: 'to\n+12025550188' },
    ],
  ])('%s that is typed meanwhile stays', async (_name, hash, button, typed) => {
    await show(hash);
    for (const [label, text] of Object.entries(typed))
      await page.getByLabel(label, { exact: true }).fill(text);
    await killAndStart();
    await page.getByRole('button', { name: button }).click();
    await over().waitFor(SOON);

    await signInAgain();

    for (const [label, text] of Object.entries(typed)) {
      expect(await page.getByLabel(label, { exact: true }).inputValue()).toBe(text);
    }
  });

  test('the window to place a call stays with what was typed in it', async () => {
    await show('calls');
    await page.getByRole('button', { name: 'Place a call' }).click();
    const dialog = page.getByRole('dialog', { name: 'Place a call' });
    await dialog.getByLabel('Greeting').fill('A greeting for this call.');
    await dialog.getByLabel('Number to call').fill('+12025550188');
    await killAndStart();
    await dialog.getByRole('button', { name: 'Call', exact: true }).click();
    await over().waitFor(SOON);

    await signInAgain();

    expect(await dialog.getByLabel('Greeting').inputValue()).toBe('A greeting for this call.');
  });

  test('the question comes back when it is closed, and the page goes on after it', async () => {
    await page.keyboard.press('Escape');
    await show('overview');
    await killAndStart();
    await over().waitFor(SOON);

    await page.keyboard.press('Escape');
    await signInAgain();

    await page.getByRole('heading', { name: 'Latest calls' }).waitFor(SOON);
    await page.getByRole('alert').waitFor({ state: 'detached', ...SOON });
    expect(shown.complaints).toEqual([]);
  });
});
