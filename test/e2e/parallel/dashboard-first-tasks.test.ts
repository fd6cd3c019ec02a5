/** Five tasks of a new user of the dashboard, each from the first page by what it shows, with its clicks counted. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { phoneText } from '../../../src/dashboard/format.ts';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import {
  REGISTRAR,
  type ScriptedCarrier,
  startCarrier,
} from '../../support/sip/scripted-carrier.ts';

/** Of the carrier's trunk, and the agent's. */
const NUMBER = '+12025550123';

/** What the carrier knows nothing of. */
const UNKNOWN = '+12025550199';

const TEN = Array.from({ length: 10 }, (_, index) => `+120255501${40 + index}`);

/** Counts presses of the pointer on the page as it is loaded now. */
const COUNT_CLICKS = `
  window.clicks = 0;
  addEventListener('click', ({ isTrusted, detail }) => {
    if (isTrusted && detail > 0) window.clicks += 1;
  }, true)`;

/** A machine that is shared is given its time. */
const SOON = { timeout: 30_000 };

describeWith(['chromium'], 'five first tasks in the dashboard', () => {
  let server: TestServer;
  let carrier: ScriptedCarrier;
  let receiver: Server;
  let isReceiverUp = false;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  const clicks: Record<string, number> = {};
  /** Pages of the dashboard that a task opens, in order. */
  let opened: string[] = [];
  const wrongTurns: Record<string, number> = {};

  beforeAll(async () => {
    buildDashboard();
    carrier = await startCarrier((request) =>
      request.method === 'INVITE' ? { status: 404 } : REGISTRAR(request),
    );
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(isReceiverUp ? 204 : 500).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const environment = { WEBHOOK_ALLOW_LOCAL: 'true', WEBHOOK_BACKOFF_SECONDS: '0,0,0,0,0' };
    server = await (await startServer({ environment })).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.setDefaultTimeout(SOON.timeout);
    page.on('framenavigated', (frame) => opened.push(new URL(frame.url()).hash));
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await carrier?.stop();
    receiver?.close();
    process.stdout.write(`first tasks: ${JSON.stringify({ clicks, wrongTurns })}\n`);
  });

  beforeEach(async () => {
    await page.goto(`${server.baseUrl}/#/overview`);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await countClicks();
  });

  afterEach(async ({ task }) => {
    if (opened.length === 0) return;
    clicks[task.name] = Number(await page.evaluate('window.clicks'));
    // A page that is opened again, and the first one.
    wrongTurns[task.name] = 1 + opened.length - new Set(['#/overview', ...opened]).size;
  });

  const countClicks = async () => {
    opened = [];
    await page.evaluate(COUNT_CLICKS);
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const field = (label: string) => page.getByLabel(label, { exact: true });

  test('make an agent and talk to it', async () => {
    await link('New agent').click();
    await page.getByRole('button', { name: 'Receptionist' }).click();
    await field('Name').fill('Front desk');
    await button('Create agent').click();
    await page.waitForURL(/#\/agents\/agent_/);
    const panel = page.getByRole('complementary', { name: 'Try the agent' });
    await panel.getByLabel('Message').fill('When are you open?');
    await page.keyboard.press('Enter');

    await panel.locator('.took').waitFor();
  });

  test('connect a trunk', async () => {
    await link('Open trunks').click();
    await link('Add trunk').first().click();
    await field('Name').fill('acme');
    await button('Next').click();
    await field('Address of the carrier').fill(carrier.hostPort);
    await field('Sign-in').selectOption('true');
    await field('User name').fill('joe');
    await field('Password').fill('secret');
    await button('Next').click();
    await field('Numbers').fill(NUMBER);
    await button('Save and check').click();

    await page.getByText('works', { exact: true }).waitFor();
  });

  test('find why a call failed', async () => {
    await server.api('PATCH', `/api/agents/${await onlyAgent()}`, { phoneNumber: NUMBER });
    const order = { agentId: await onlyAgent(), to: UNKNOWN };
    const { body } = await server.api('POST', '/api/calls/outbound', order);
    await expect
      .poll(async () => (await server.api('GET', `/api/calls/${body.callId}`)).body.status, SOON)
      .toBe('failed');
    await page.reload();
    await countClicks();
    await page.locator('dd').getByRole('link', { name: '1', exact: true }).click();
    await page
      .getByRole('row', { name: phoneText(UNKNOWN) })
      .getByRole('link')
      .first()
      .click();

    await page.getByText(/404/).first().waitFor();
  });

  test('resend a webhook', async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const endpoint = { url, events: ['call.ended'] };
    const { body } = await server.api('POST', '/api/webhooks/endpoints', endpoint);
    await server.api('POST', `/api/webhooks/endpoints/${body.id}/test`);
    const failed = async () =>
      (await server.api('GET', '/api/webhooks/deliveries?status=failed')).body.total;
    await expect.poll(failed, SOON).toBe(1);
    isReceiverUp = true;
    await page.reload();
    await countClicks();
    await page.locator('.problems').getByRole('link', { name: 'Webhooks' }).click();
    await button('Resend').click();

    await expect.poll(failed, SOON).toBe(0);
  });

  test('place ten calls', async () => {
    await link('Campaigns').click();
    await link('New campaign').first().click();
    await field('Name').fill('Recall');
    await page.getByLabel('List: first line').fill(`to\n${TEN.join('\n')}\n`);
    await field('Calls per minute').fill('600');
    await button('Start campaign').click();

    const made = async () => (await server.api('GET', '/api/calls?limit=100')).body.total;
    await expect.poll(made, SOON).toBeGreaterThanOrEqual(11);
  });

  test('none of them takes more than five clicks or a wrong turn, and the policy had nothing to forbid', () => {
    expect(Object.values(clicks).filter((count) => count === 0 || count > 5)).toEqual([]);
    expect(Object.values(wrongTurns)).toEqual([0, 0, 0, 0, 0]);
    expect(shown.complaints).toEqual([]);
  });

  async function onlyAgent(): Promise<string> {
    const { body } = await server.api('GET', '/api/agents');
    return String((body.data as { readonly id: string }[])[0]?.id);
  }
});
