/** The dashboard in a browser, against the whole server, from the printed link to a revoked key. */

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PASSWORD = 'correct horse battery';
const EVIL = '<img src=x onerror="window.hit=1">';
const FIRST_LOAD_BYTES_MAX = 150_000;

/** Refuses every delivery: nothing listens there. */
const DEAF = 'http://127.0.0.1:9/hook';

describeWith(['chromium'], 'the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    spawnSync(join(ROOT, 'node_modules/.bin/node'), ['src/cli/build-dashboard.ts'], { cwd: ROOT });
    const environment = {
      WEBHOOK_ALLOW_LOCAL: 'true',
      WEBHOOK_BACKOFF_SECONDS: '0,0,0,0,0',
      SANDBOX_SPEED: '4',
    };
    server = await (await startServer({ environment })).ready();
    browser = await launchBrowser();
    shown = await BrowserPage.open(browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const go = async (hash: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('the first load is small', () => {
    const folder = join(ROOT, 'dist/dashboard');
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const packed = [...page.matchAll(/"\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name]) => name);
    const sizeBytes = packed.reduce(
      (sum, name) => sum + statSync(join(folder, `${name}.gz`)).size,
      0,
    );

    expect(packed.length).toBeGreaterThan(1);
    expect(sizeBytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
  });

  test('the printed link sets the password, by keyboard alone, and the token leaves the address', async () => {
    await expect.poll(() => server.output).toMatch(/setup\?token=/);
    await page.goto(
      /http\S+\/(#\/setup\?token=\S+)/
        .exec(server.output)?.[1]
        ?.replace(/^/, `${server.baseUrl}/`) ?? '',
    );
    await page.getByLabel('New password').waitFor();
    const findings = await shown.findings();
    await shown.picture('setup');

    await shown.tabTo('New password');
    await page.keyboard.type(PASSWORD);
    await shown.tabTo('Repeat password');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    expect(findings).toEqual([]);
    expect(page.url()).not.toContain('token');
  });

  test('signing out and in again works by keyboard alone', async () => {
    await page.getByRole('button', { name: 'account menu' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByLabel('Password').waitFor();

    await shown.tabTo('Password');
    await page.keyboard.type('wrong password!');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill('');
    await page.getByLabel('Password').focus();
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const focused = () => page.evaluate('document.activeElement.tagName');
    await expect.poll(focused).toBe('H1');
  });

  test('an agent is refused at its field, then made', async () => {
    await page.getByText('Test', { exact: true }).click();
    await go('agents/new');

    await page.getByLabel('Name').fill(EVIL);
    await page.getByLabel('Greeting').fill(`Hello ${EVIL}`);
    await button('Create agent').click();
    const field = page.getByLabel('Instructions');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('You answer the telephone of a dentist.');
    await page.getByLabel('book an appointment').check();
    await button('Create agent').click();

    await page.waitForURL(/#\/agents\/agent_/);
    await page.getByRole('heading', { name: EVIL }).waitFor();
    await shown.picture('agent');
  });

  test('the self-test runs by its button, and shows the verdict on each engine', async () => {
    await go('system');

    await button('Run the self-test').click();
    await page.getByText('Running: about two minutes.').waitFor();
    const report = page.getByText(/recogniser tiny whisper: a sentence takes/);
    await report.waitFor({ timeout: 180_000 });

    expect(await report.textContent()).toMatch(/OK {2}voice /);
    expect(await shown.findings()).toEqual([]);
    await shown.picture('self-test');
  });

  test('a webhook without a receiver says so at once, fails, shows what was sent, and is sent again', async () => {
    await go('webhooks');
    await button('Add endpoint').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL', { exact: true }).fill(DEAF);
    await dialog.getByLabel('Description').fill(EVIL);
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await button('Send test event').click();
    await dialog.getByText(/no server listens at its port/i).waitFor();
    expect(await shown.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect
      .poll(
        async () => {
          await button('Refresh').click();
          return page.getByRole('cell', { name: 'failed', exact: true }).count();
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(1);

    await button('Details').click();
    await dialog.getByText('"event": "webhook.test"').waitFor();
    await dialog.getByText('Request headers').first().click();
    await dialog
      .getByText(/X-Service-Signature: [0-9a-f]{64}/)
      .first()
      .waitFor();
    await shown.picture('webhooks');
    expect(await shown.findings()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: DEAF }).first().click();
    await page.getByRole('heading', { name: DEAF }).waitFor();
    await page.getByText('0%').waitFor();
    await button('Resend').click();

    await page.getByText('Queued for resend').waitFor();
  });

  test('a call is watched as it goes on', async () => {
    await go('live');
    await page.getByText('Connected').waitFor();
    await button('Simulate a call').click();
    await button('Call').click();

    const card = page.getByRole('article');
    await card.getByText('in progress').waitFor();
    await card.locator('.said-user').first().waitFor();
    await shown.picture('live');
    expect(await card.getByText(`Hello ${EVIL}`).count()).toBe(1);
    await card.getByText('completed').waitFor({ timeout: 60_000 });
  });

  test('the call shows its words, its recording plays, and its turns are drawn', async () => {
    await go('calls');
    await page.getByRole('cell').getByRole('link').first().click();
    await page.getByRole('slider').waitFor();

    await page.getByTitle('Play from here').last().click();
    await expect.poll(() => page.locator('.said[aria-current]').count()).toBe(1);
    await page.getByRole('img', { name: /How long each answer took/ }).waitFor();
    await page.getByText('Median time to answer').waitFor();

    await page.getByRole('tab', { name: 'Events' }).click();
    await expect
      .poll(() => page.getByRole('cell', { name: 'call.ended' }).count())
      .toBeGreaterThan(0);
    await page.locator('.payload summary').first().click();
    expect(await page.locator('.payload pre').first().textContent()).toContain('"event": "call.');
    expect(await shown.findings()).toEqual([]);
    await shown.picture('call');
  });

  test('the calls that are shown come as a table and as JSON', async () => {
    await go('calls');
    const saved = async (label: string) => {
      const [file] = await Promise.all([page.waitForEvent('download'), button(label).click()]);
      return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
    };

    const csv = await saved('Export CSV');
    const json = await saved('Export JSON');

    const shownIds = await page
      .locator('tbody .row-link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')?.split('/').at(-1)));
    const calls = JSON.parse(json.text) as readonly { readonly id: string }[];
    expect([csv.name, json.name]).toEqual(['calls.csv', 'calls.json']);
    expect(csv.text.trim().split('\n')).toHaveLength(shownIds.length + 1);
    expect(calls.map(({ id }) => id)).toEqual(shownIds);
  });

  test('a key is shown once, works, and is revoked', async () => {
    await go('keys');
    await page.getByLabel('Name').fill('Booking site');
    await button('Create key').click();
    const key = (await page.locator('.secret').textContent()) ?? '';
    await shown.picture('key');
    const findings = await shown.findings();
    await button('Done').click();
    const ask = () =>
      fetch(`${server.baseUrl}/api/agents`, { headers: { authorization: `Bearer ${key}` } });
    const before = await ask();

    const row = page.getByRole('row', { name: /Booking site/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();

    expect(key).toMatch(/^svc_test_/);
    expect(findings).toEqual([]);
    expect(before.status).toBe(200);
    // A revoked key stops within a second.
    await expect.poll(async () => (await ask()).status, { timeout: 2000 }).toBe(401);
  });

  test('a signing secret is prepared, given up, prepared again, activated, and the one before dropped', async () => {
    await go('webhooks');

    await button('Prepare new secret').click();
    const given = (await page.locator('.secret').textContent()) ?? '';
    await button('Discard').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.locator('.secret').waitFor({ state: 'detached' });
    await button('Prepare new secret').click();
    const secret = (await page.locator('.secret').textContent()) ?? '';
    const isActive = await page.getByText(/not active yet/).count();
    await shown.picture('signing-secret');
    const findings = await shown.findings();
    await button('Activate').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
    await page.getByText('The previous secret also signs').waitFor();
    await button('Drop previous secret').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drop previous secret' }).click();
    await page.getByText('The previous secret also signs').waitFor({ state: 'detached' });

    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(given);
    expect(isActive).toBe(1);
    expect(findings).toEqual([]);
    await button('Prepare new secret').waitFor();
  });

  test('it speaks German, and remembers', async () => {
    await shown.choose('Deutsch');

    await page.reload();
    await page.getByRole('link', { name: 'Anrufe' }).waitFor();

    expect(await page.evaluate('document.documentElement.lang')).toBe('de');
  });

  test('no user input has run as code, and the policy had nothing to block', async () => {
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(shown.complaints).toEqual([]);
  });
});
