/** The wizard of a new trunk: steps, a refused field and a refused password at the step that mends them, check, test call; by keyboard alone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { adminJson } from '../../support/server/admin.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import {
  REGISTRAR,
  type ScriptedCarrier,
  startCarrier,
} from '../../support/sip/scripted-carrier.ts';

const HOSTILE = '"><img src=x onerror="window.hit=1">';

const PASSWORD = 'only-the-carrier-knows';

/** A check waits for a carrier, on a machine that is shared. */
const SOON = { timeout: 40_000 };

/** Of another account. */
const FOREIGN = '+12025550155';

const TABS_MAX = 60;

const STEPS = ['Carrier', 'Credentials and addresses', 'Numbers', 'Check', 'Test call'];

describeWith(['chromium'], 'the wizard of a new trunk', () => {
  let server: TestServer;
  let carrier: ScriptedCarrier;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId = '';

  beforeAll(async () => {
    buildDashboard();
    carrier = await startCarrier((request) => {
      const isOther = /username="(?!joe")/.test(request.header('Authorization'));
      return request.method === 'REGISTER' && isOther ? { status: 403 } : REGISTRAR(request);
    });
    server = await (await startServer()).ready();
    agentId = await server.createAgent({ name: HOSTILE });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.setDefaultTimeout(SOON.timeout);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await carrier?.stop();
  });

  afterEach(async () => {
    expect(await page.evaluate('window.hit ?? 0')).toBe(0);
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(shown.complaints).toEqual([]);
  });

  const field = (label: string) => page.getByLabel(label, { exact: true });

  /** Goes on by Tab to the control with this name, and presses the key. */
  const press = async (name: string, key = 'Enter') => {
    for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
      const focused =
        'document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent';
      if ((await page.evaluate(focused)) === name) return await page.keyboard.press(key);
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not reach "${name}"`);
  };

  const type = async (label: string, text: string) => {
    await shown.tabTo(label);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };

  /** Waits for the step: it is the current one, its heading has the focus, axe finds nothing, and it fits a telephone. */
  const arrived = async (step: string) => {
    await page.locator('[aria-current="step"]', { hasText: step }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(step);
    expect(await page.locator('.wizard-steps li').allTextContents()).toEqual(STEPS);
    expect(await shown.findings()).toEqual([]);
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await shown.isTooWide()).toBe(false);
      await shown.picture(`trunk-wizard-${STEPS.indexOf(step) + 1}-${width}`);
    }
  };

  test('a preset fills in what all customers of a carrier share, and asks for the rest alone', async () => {
    await page.getByRole('link', { name: 'Trunks', exact: true }).click();
    await page.getByRole('link', { name: 'Add trunk' }).first().click();
    const current = await page.locator('[aria-current="step"]').textContent();
    const findings = await shown.findings();
    await shown.picture('trunk-wizard-1');
    await press('Carrier or phone system', 's');
    await press('Next');

    await arrived('Credentials and addresses');

    expect({ current, findings }).toEqual({ current: 'Carrier', findings: [] });
    const fields = page.locator('main :is(input, select, textarea):visible');
    expect(await fields.count()).toBe(2);
    expect(await field('User name').isVisible()).toBe(true);
    expect(await field('Password').isVisible()).toBe(true);
    expect(await field('Address of the carrier').inputValue()).toBe('sipconnect.sipgate.de');
    expect(await field('Sign-in').inputValue()).toBe('true');
    expect(await field('Addresses that its calls come from').inputValue()).toContain('217.10.64');
  });

  test('another carrier keeps what was typed, and Back and a reload lose nothing but the secret', async () => {
    await type('User name', HOSTILE);
    await type('Password', PASSWORD);
    await press('Back');
    await arrived('Carrier');
    await press('Carrier or phone system', 'Home');
    await type('Name', HOSTILE);
    await press('Next');
    await arrived('Credentials and addresses');
    await type('Address of the carrier', carrier.hostPort);
    await press('Next');
    await arrived('Numbers');
    await type('Numbers', `${HOSTILE}\n+12025550123`);
    await field('Who answers +12025550123').selectOption(agentId);
    const question = page.waitForEvent('dialog');
    const reloaded = page.reload();
    const asked = await question;
    await asked.accept();
    await reloaded;
    await page.getByText('Your unsaved changes from before are back').waitFor();

    expect(asked.type()).toBe('beforeunload');
    expect(await field('Numbers').inputValue()).toBe(`${HOSTILE}\n+12025550123`);
    await expect.poll(() => field('Who answers +12025550123').inputValue(), SOON).toBe(agentId);
    await page.goBack();
    await arrived('Credentials and addresses');
    expect(await field('User name').inputValue()).toBe(HOSTILE);
    expect(await field('Password').inputValue()).toBe('');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(PASSWORD);
  });

  test('a refusal leads to the step with the wrong field, and tells each field what is wrong', async () => {
    await type('Password', PASSWORD);
    await press('More settings');
    await type('Domain', HOSTILE);
    await press('Next');
    await arrived('Numbers');
    await type('Number shown to the called party', HOSTILE);
    await press('Save and check');

    await arrived('Carrier');

    expect(await page.getByRole('alert').textContent()).toContain('Cannot');
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true');
    await type('Name', 'acme');
    await press('Next');
    await arrived('Credentials and addresses');
    expect(await field('User name').getAttribute('aria-invalid')).toBe('true');
    expect(await field('Domain').getAttribute('aria-invalid')).toBe('true');
    expect((await server.api('GET', '/api/trunks')).body.data).toEqual([]);
  });

  test('a password that the carrier refuses is told by the check, and at the step that mends it', async () => {
    await press('Sign-in', 'Home');
    await type('User name', 'jane');
    await type('Domain', '');
    await press('Next');
    await arrived('Numbers');
    await type('Numbers', '+12025550123\n+1202555013*');
    await type('Number shown to the called party', '');
    await press('Save and check');
    await page.getByText('does not work yet', { exact: true }).waitFor();
    await arrived('Check');
    const told = await page.locator('.outcome li', { hasText: 'Sign-in' }).textContent();
    await press('Change credentials and addresses');

    await arrived('Credentials and addresses');

    expect(told).toContain('forbids user "jane"');
    expect(await page.locator('.box.bad').textContent()).toBe(told);
    expect(await field('Password').inputValue()).toBe('');
  });

  test('once it is mended the same trunk works, and its number rings the agent', async () => {
    await type('User name', 'joe');
    await press('Next');
    await arrived('Numbers');
    await press('Save and check');

    await page.getByText('works', { exact: true }).waitFor();

    const { data } = (await server.api('GET', '/api/trunks')).body;
    expect(data).toMatchObject([{ name: 'acme', username: 'joe', hasPassword: true }]);
    expect((await server.api('GET', `/api/agents/${agentId}`)).body.phoneNumber).toBe(
      '+12025550123',
    );
    expect(await page.content()).not.toContain(PASSWORD);
  });

  test('a saved trunk stays the wizard’s after a reload, and on the way back', async () => {
    await page.reload();
    await page.getByText('works', { exact: true }).waitFor();
    await page.goBack();
    await arrived('Numbers');

    await press('Save and check');
    await page.getByText('works', { exact: true }).waitFor();

    expect((await server.api('GET', '/api/trunks')).body.data).toHaveLength(1);
  });

  test('a test call goes out from the trunk’s own number; then the trunk has its form', async () => {
    await press('Next');
    await arrived('Test call');
    await type('Number to call', '+12025550188');
    await press('Call');
    await expect.poll(() => page.url(), SOON).toContain('#/calls/call_');
    await expect.poll(() => carrier.of('INVITE').length, SOON).toBeGreaterThan(0);
    await page.goBack();
    await page.getByRole('heading', { level: 2, name: 'Test call' }).waitFor();
    await press('Done');

    await page.getByRole('heading', { level: 1, name: 'acme' }).waitFor();

    expect(carrier.of('INVITE')[0]?.header('From')).toContain('+12025550123');
    expect(await field('User name').inputValue()).toBe('joe');
    expect(await page.locator('.wizard-steps').count()).toBe(0);
  });

  test('a number that cannot be given is told at its step, and the trunk that is saved is no second one', async () => {
    const { id } = await adminJson(server.dataDir, ['account', 'create', '--name', 'Second']);
    await server.api('PUT', `/api/phone-numbers/${FOREIGN}`, { accountId: id });
    await page.goto(`${server.baseUrl}/#/trunks/+`);
    await field('Name').waitFor();
    await type('Name', 'second');
    await press('Next');
    await arrived('Credentials and addresses');
    await type('Address of the carrier', carrier.hostPort);
    await press('Next');
    await arrived('Numbers');
    await type('Numbers', FOREIGN);
    await field(`Who answers ${FOREIGN}`).selectOption(agentId);
    await press('Save and check');

    const alert = await page.getByRole('alert').textContent();
    const chosen = await field(`Who answers ${FOREIGN}`).inputValue();
    await field(`Who answers ${FOREIGN}`).selectOption('');
    await press('Save and check');
    await page.getByText('works', { exact: true }).waitFor();

    expect(alert).toContain(FOREIGN);
    expect(chosen).toBe(agentId);
    const { data } = (await server.api('GET', '/api/trunks')).body;
    expect((data as { name: string }[]).map(({ name }) => name)).toEqual(['acme', 'second']);
  });
});
