/** SMS gateways in the dashboard: made and changed, with a request of their own; numbers that want no messages. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const EVIL = '<img src=x onerror="window.hit=1">';

describeWith(['chromium'], 'SMS gateways in the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } })).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.setDefaultTimeout(10_000);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const go = async (hash: string, heading: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
  };
  const dialog = () => page.getByRole('dialog');

  test('an SMS gateway is made and changed; its secret stays, and an agent may name it', async () => {
    await go('gateways', 'SMS gateways');
    await page.getByText('No SMS gateways yet.').waitFor();
    await button('Add gateway').click();
    await dialog().getByLabel('Name').fill('own');
    await dialog().getByLabel('Service').selectOption('webhook');
    await dialog().getByLabel('Sender').fill('+12025550100');
    await dialog().getByLabel('Account or user').fill(EVIL);
    await dialog().getByLabel('Secret').fill('a-secret-token');
    await dialog().getByLabel('URL').fill('https://10.0.0.1/send');
    await dialog().getByRole('button', { name: 'Add gateway' }).click();
    await dialog().getByText('WEBHOOK_ALLOW_PRIVATE=true').waitFor();
    await shown.picture('gateway-refused');
    const findings = await shown.findings();
    await dialog().getByLabel('URL').fill('http://127.0.0.1:9/send');
    await dialog().getByRole('button', { name: 'Add gateway' }).click();
    await page.getByRole('cell', { name: 'own', exact: true }).waitFor();
    await button('Edit').click();
    const secret = await dialog().getByLabel('Secret').inputValue();
    await dialog().getByLabel('Maximum messages per day').fill('5');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('Gateway saved').waitFor();

    const { body } = await server.api('GET', '/api/sms-gateways/own');
    expect([findings, secret]).toEqual([[], '']);
    expect(body).toMatchObject({ dailyMax: 5, hasSecret: true, username: EVIL });
    const agentId = await server.createAgent({ phoneNumber: '+12025550144' });
    await go(`agents/${agentId}`, 'Reception');
    await page.getByLabel('Gateway for text messages').selectOption('own');
    await button('Publish').click();
    await page.getByText('Agent published').waitFor();
    const agent = await server.api('GET', `/api/agents/${agentId}`);
    expect(agent.body.smsGateway).toBe('own');
  });

  test('the request of a gateway gets fields of its own; without the text it is refused at its fields', async () => {
    await go('gateways', 'SMS gateways');
    await button('Edit').click();
    await dialog().getByLabel('Request').selectOption('form');
    const fields = dialog().getByRole('group', { name: 'Fields' });
    await fields.getByLabel('Field').nth(1).fill('msisdn');
    await fields.getByLabel('Value').nth(1).fill('{toDigits}');
    await fields.getByLabel('Value').nth(3).fill('no text');
    await dialog().getByRole('button', { name: 'Add a header' }).click();
    await page.keyboard.type('Authorization');
    const headers = dialog().getByRole('group', { name: 'Headers' });
    await headers.getByLabel('Value').fill('Token {secret}');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await fields.getByText('expected the places').waitFor();
    await shown.picture('gateway-template');
    const findings = await shown.findings();
    await fields.getByLabel('Value').nth(3).fill('{text}');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });

    const { body } = await server.api('GET', '/api/sms-gateways/own');
    expect(findings).toEqual([]);
    expect(body.template).toMatchObject({
      format: 'form',
      headers: { Authorization: 'Token {secret}' },
      body: { id: '{id}', msisdn: '{toDigits}', text: '{text}' },
    });
  });

  test('a change of the gateway by somebody else is shown, and not overwritten', async () => {
    await button('Edit').click();
    await dialog().getByLabel('Maximum messages per day').fill('7');
    await server.api('PATCH', '/api/sms-gateways/own', { from: '+12025550101' });
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('Someone else has saved changes in the meantime.').waitFor();
    await dialog().getByRole('button', { name: 'Discard mine' }).click();
    const values = [
      await dialog().getByLabel('Sender').inputValue(),
      await dialog().getByLabel('Maximum messages per day').inputValue(),
    ];
    await dialog().getByRole('button', { name: 'Cancel' }).click();

    expect(values).toEqual(['+12025550101', '5']);
  });

  test('a number that wants no messages is added and taken back', async () => {
    const list = page.getByRole('region', { name: 'Opted-out numbers' });
    await list.getByText('STOP, UNSUBSCRIBE').waitFor();
    await list.getByText('No number has opted out.').waitFor();
    await list.getByRole('button', { name: 'Add number' }).click();
    await dialog().getByLabel('Number').fill('0333');
    await dialog().getByRole('button', { name: 'Add number' }).click();
    await dialog().getByText('expected a possible number').first().waitFor();
    await dialog().getByLabel('Number').fill('+393331234567');
    await dialog().getByRole('button', { name: 'Add number' }).click();
    await list.getByRole('cell', { name: '+393331234567' }).waitFor();
    await shown.picture('opt-outs');
    const findings = await shown.findings();
    const added = await server.api('GET', '/api/sms-opt-outs');
    await list.getByRole('button', { name: 'Allow again' }).click();
    await dialog().getByRole('button', { name: 'Allow again' }).click();
    await list.getByText('No number has opted out.').waitFor();

    expect(findings).toEqual([]);
    expect(added.body).toMatchObject({ total: 1, data: [{ number: '+393331234567' }] });
  });

  test('it speaks German, fits a telephone’s screen, and nothing hostile has run', async () => {
    await shown.choose('Deutsch');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByText('Keine Nummer hat sich abgemeldet.').waitFor();
    await shown.picture('de-360-gateways');
    const isTooWide = await shown.isTooWide();
    await page.getByRole('button', { name: 'Bearbeiten', exact: true }).click();
    await page.getByRole('group', { name: 'Felder' }).waitFor();
    await shown.picture('de-360-gateway');

    expect([isTooWide, await shown.isTooWide()]).toEqual([false, false]);
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(shown.complaints).toEqual([]);
  });
});
