/** Calls that a reader of the dashboard asks for: one from a window, and a campaign from a list. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const TRUNK = {
  ...{ name: 'acme', proxy: '127.0.0.1:9', optionsIntervalSeconds: 0 },
  numbers: ['+12025550123'],
};

describeWith(['chromium'], 'calls from the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-dashboard-campaigns-'));
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    const SIP_TRUNKS = join(folder, 'trunks.json');
    writeFileSync(SIP_TRUNKS, JSON.stringify([TRUNK]));
    server = await (await startServer({ environment: { SIP_TRUNKS } })).ready();
    await server.createAgent();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog', { name: 'Place a call' });

  test('a forbidden number is refused next to its field, and an allowed one is called', async () => {
    await page.goto(`${server.baseUrl}/#/calls`);
    await button('Place a call').click();
    const to = dialog().getByLabel('Number to call');
    await to.fill('+4930123456');
    await dialog().getByRole('button', { name: 'Call', exact: true }).click();
    await expect.poll(() => to.getAttribute('aria-invalid')).toBe('true');
    const why = await page.locator(`#${await to.getAttribute('aria-describedby')}`).textContent();
    await shown.picture('place-call-refused');
    const findings = await shown.findings();

    await to.fill('+12025550188');
    await dialog().getByRole('button', { name: 'Call', exact: true }).click();
    await page.waitForURL(/#\/calls\/call_/);

    expect(why).toBe('Its country may not be called');
    expect(findings).toEqual([]);
    const { body } = await server.api('GET', '/api/calls');
    expect(body.data).toMatchObject([{ to: '+12025550188', direction: 'outbound' }]);
  });

  test('the command palette opens the window too', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('place a call');
    await page.keyboard.press('Enter');

    await dialog().waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  });

  test('wrong rows of a list are named before it is sent', async () => {
    await page.goto(`${server.baseUrl}/#/campaigns/new`);
    await page.getByLabel('Name', { exact: true }).fill('Recall');
    const csv = `to;name\n+12025550188;Anna\n0202;Ben\n+12025550188;Carl\n`;
    const file = { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
    await page.getByLabel('CSV file').setInputFiles(file);

    await page.getByText('Rows to correct: 2').waitFor();
    const problems = await page.locator('.box.bad li').allTextContents();
    await shown.picture('campaign-wrong-rows');

    expect(problems).toEqual([
      'Line 3: not a number with country code, such as +390612345678',
      'Line 4: the number is in the list already',
    ]);
    expect(await button('Start campaign').isDisabled()).toBe(true);
    expect(await shown.findings()).toEqual([]);
  });

  test('a campaign is started, paused, resumed, cancelled and deleted', async () => {
    await page.getByLabel('List').fill('to,name\n+12025550188,Anna\n+12025550189,Ben\n');
    await page.getByLabel('Not before').fill(tomorrow());
    await button('Start campaign').click();
    await page.getByRole('heading', { name: 'Recall' }).waitFor();

    await button('Pause').click();
    await button('Resume').click();
    await button('Pause').waitFor();
    await button('Cancel campaign').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel campaign' }).click();
    await page.getByRole('cell', { name: 'cancelled', exact: true }).first().waitFor();
    await shown.picture('campaign-cancelled');
    const cells = await page.getByRole('cell', { name: 'cancelled', exact: true }).count();
    await button('Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL(/#\/campaigns(\?|$)/);

    expect(cells).toBe(2);
    expect((await server.api('GET', '/api/campaigns')).body.total).toBe(0);
  });

  test('the policy had nothing to forbid', () => {
    expect(shown.complaints).toEqual([]);
  });
});

/** As the input of a date and time has it. */
function tomorrow(): string {
  return new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
}
