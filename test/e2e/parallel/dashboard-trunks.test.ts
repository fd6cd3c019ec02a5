/** The page of a SIP trunk in the dashboard: checked, followed, tried by a call, broken, deleted. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import {
  REGISTRAR,
  type ScriptedCarrier,
  startCarrier,
} from '../../support/sip/scripted-carrier.ts';

const EVIL = '"><img src=x onerror=alert(1)>';

const PASSWORD = 'only-the-carrier-knows';

/** A check waits for a silent carrier. */
const CHECKED = { timeout: 60_000 };

describeWith(['chromium'], 'trunks of the dashboard', () => {
  let server: TestServer;
  let carrier: ScriptedCarrier;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    carrier = await startCarrier(REGISTRAR);
    server = await (await startServer()).ready();
    await server.createAgent({ name: EVIL });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await carrier?.stop();
  });

  const field = (label: string) => page.getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const steps = () => page.locator('.outcome li').allTextContents();
  const step = (name: string, text: string) =>
    page.locator('.outcome li', { hasText: `${name} ${text}` });
  const check = async (outcome: string) => {
    await press('Check now');
    await page.getByText(outcome, { exact: true }).waitFor(CHECKED);
  };

  test('the check says step by step that a trunk works', async () => {
    const numbers = ['+12025550123', '+12025550124'];
    const trunk = { name: 'acme', proxy: carrier.hostPort, register: true, numbers };
    await server.api('POST', '/api/trunks', { ...trunk, username: 'joe', password: PASSWORD });
    await page.getByRole('link', { name: 'Trunks', exact: true }).click();
    await page.getByRole('link', { name: 'acme', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'acme' }).waitFor();

    await check('works');

    const steps = await page.locator('.outcome li').allTextContents();
    expect(steps.find((step) => step.startsWith('Sign-in'))).toContain('takes the user name');
    expect(await page.content()).not.toContain(PASSWORD);
    expect(await shown.findings()).toEqual([]);
    await shown.picture('trunk-works');
  });

  test('the page follows the trunk while it is open, and its form keeps what was typed', async () => {
    await field('User name').fill('jane');
    const numbers = ['+12025550123', '+12025550124', '+12025550125'];
    await server.api('PATCH', '/api/trunks/acme', { numbers });

    await page.getByRole('region', { name: 'Now' }).getByText('+12025550125').waitFor(CHECKED);

    expect(await field('User name').inputValue()).toBe('jane');
    await field('User name').fill('joe');
  });

  test('a test call goes out from the trunk’s own number, and its page opens', async () => {
    await press('Test call');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Number to call').fill('+12025550188');
    const findings = await shown.findings();
    await shown.picture('trunk-test-call');
    await dialog.getByRole('button', { name: 'Call', exact: true }).click();

    await expect.poll(() => page.url()).toContain('#/calls/call_');
    await expect.poll(() => carrier.of('INVITE').length, CHECKED).toBeGreaterThan(0);
    expect(carrier.of('INVITE')[0]?.header('From')).toContain('+12025550123');
    expect(findings).toEqual([]);
    await page.goto(`${server.baseUrl}/#/trunks/acme`);
  });

  test('a carrier that does not answer is told in a sentence, with what to do', async () => {
    await field('Address of the carrier').fill('127.0.0.1:9');
    await press('Save');
    await page.getByText('Trunk saved').waitFor();

    await check('does not work yet');

    expect(await page.getByText(/does not answer OPTIONS/).textContent()).toContain('firewall');
    const { body } = await server.api('GET', '/api/trunks/acme');
    expect(body).toMatchObject({ proxy: '127.0.0.1:9', hasPassword: true, username: 'joe' });
    await shown.picture('trunk-silent');
  });

  test('the steps of a check are shown as they happen while a slow carrier takes its time', async () => {
    let mayAnswer = false;
    carrier.script = (request) => (mayAnswer ? REGISTRAR(request) : undefined);
    await field('Address of the carrier').fill(carrier.hostPort);
    await press('Save');
    await page.getByText('Trunk saved').waitFor();

    await press('Check now');
    await step('Answer', 'being checked…').waitFor(CHECKED);
    const during = await steps();
    const findings = await shown.findings();
    await shown.picture('trunk-checking');
    mayAnswer = true;
    await page.getByText('works', { exact: true }).waitFor(CHECKED);

    expect(during).toEqual([
      expect.stringMatching(/^Host name "127\.0\.0\.1" is at/),
      'Connection UDP needs no connection',
      'Answer being checked…',
    ]);
    expect(findings).toEqual([]);
    expect(await page.locator('[aria-live="polite"] > .check-steps > li').count()).toBe(7);
  });

  test('a check is stopped by the button that began it, and says what was not checked', async () => {
    carrier.script = () => undefined;
    await page.getByRole('button', { name: 'Check now', exact: true }).focus();
    await page.keyboard.press('Enter');
    await step('Answer', 'being checked…').waitFor(CHECKED);

    await page.keyboard.press('Enter');
    await page.getByText('The check ended before its result.').waitFor();

    expect((await steps()).at(-1)).toBe('Answer not checked');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Check now');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('a check that the server does not begin ends at its time limit, with a sentence', async () => {
    await page.route('**/check', () => undefined);

    await press('Check now');
    await page.getByText(/took longer than 40 s/).waitFor(CHECKED);
    await page.unrouteAll();

    expect(await page.getByRole('button', { name: 'Check now', exact: true }).count()).toBe(1);
  });

  test('a trunk is deleted', async () => {
    await press('Delete trunk');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete trunk' }).click();
    await page.getByText('No SIP trunks yet.').waitFor();

    expect((await server.api('GET', '/api/trunks')).body.data).toEqual([]);
    expect(shown.complaints).toEqual([]);
  });

  test('a check whose server goes away says that the connection broke off', async () => {
    await server.api('POST', '/api/trunks', { name: 'last', proxy: carrier.hostPort });
    await page.goto(`${server.baseUrl}/#/trunks/last`);
    await press('Check now');
    await step('Answer', 'being checked…').waitFor(CHECKED);

    server.kill('SIGKILL');

    await page.getByText(/broke off before the check was over/).waitFor(CHECKED);
    expect((await steps()).at(-1)).toBe('Answer not checked');
  });
});
