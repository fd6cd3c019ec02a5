/** Tools in the dashboard: an HTTP tool made, tested and changed; refused addresses; an MCP server; calendars and their appointments. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import {
  buildDashboard,
  openAnother,
  openDashboard,
} from '../../support/dashboard/dashboard-page.ts';
import { openMcpShop } from '../../support/mcp/mcp-shop.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedAppointments } from '../../support/store/seed-appointments.ts';

const EVIL = '<img src=x onerror="window.hit=1">';

const TOKEN = 'Bearer a-long-secret-token';

describeWith(['chromium'], 'tools and calendars in the dashboard', () => {
  const asked: IncomingMessage[] = [];
  let shop: Server;
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    shop = createServer((request, response) => {
      asked.push(request);
      response.end(JSON.stringify({ data: { status: `It ships on Friday. ${EVIL}` } }));
    }).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    server = await (await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } })).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.setDefaultTimeout(10_000);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    shop?.closeAllConnections();
    shop?.close();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const go = async (hash: string, heading: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
  };
  const dialog = () => page.getByRole('dialog');

  test('a tool that is not JSON, or leads to a private address, is refused in words', async () => {
    await go('tools', 'Tools');
    await page.getByText('No tools yet.').waitFor();
    await page.getByRole('link', { name: 'New tool' }).click();
    await page.getByLabel('Name').fill('order_status');
    await page.getByLabel('Description').fill(`Looks up an order. ${EVIL}`);
    const parameters = page.getByLabel('Arguments (JSON Schema)');
    const schema = await parameters.inputValue();
    await parameters.fill('{\n  "type": object\n}');
    await page.getByText('Not JSON: look at line 2, column 11').first().waitFor();
    await parameters.fill('{"type": "array"}');
    await page.getByLabel('URL').fill('https://10.0.0.1/orders/{orderId}');
    await button('Create tool').click();
    await expect.poll(() => parameters.getAttribute('aria-invalid')).toBe('true');
    await parameters.fill(schema);
    await button('Create tool').click();

    await page.getByRole('alert').getByText('WEBHOOK_ALLOW_PRIVATE is not set').waitFor();
    await page.getByText('WEBHOOK_ALLOW_PRIVATE=true').waitFor();
    await shown.picture('tool-refused');
    expect(await shown.findings()).toEqual([]);
  });

  test('a tool is made with a secret header, and tested: the answer is shown as text', async () => {
    const { port } = shop.address() as AddressInfo;
    await page.getByLabel('URL').fill(`http://127.0.0.1:${port}/orders/{orderId}`);
    await button('Add a header').click();
    await page.keyboard.type('Authorization');
    await page.getByLabel('Value').fill(TOKEN);
    await page.getByLabel('Shown').selectOption('secret');
    await page.getByLabel('Part of the response').fill('data.status');
    await button('Create tool').click();
    await page.getByRole('heading', { name: 'order_status' }).waitFor();
    const pane = page.getByRole('complementary', { name: 'Test' });
    await pane.getByLabel('Arguments (JSON)').fill('{"orderId": "A-1047"}');
    await button('Run test').click();
    await pane.getByText(/succeeded in \d+ ms/).waitFor();
    await shown.picture('tool-tested');

    expect(await pane.locator('pre').textContent()).toContain(`It ships on Friday. ${EVIL}`);
    expect(asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/orders/A-1047', TOKEN],
    ]);
    expect(await shown.findings()).toEqual([]);
  });

  test('a change keeps the secret, which is not shown; what is unsaved is told next to the test', async () => {
    await page.reload();
    await page.getByLabel('Time limit (ms)').fill('900');
    await page.getByText('This tests the saved version.').waitFor();
    const value = await page.getByLabel('Value').inputValue();
    await button('Save').click();
    await page.getByText('Tool saved').waitFor();
    await button('Run test').click();
    await page.getByText('failed after').waitFor();

    await page.getByLabel('Arguments (JSON)').fill('{"orderId": "B-1"}');
    await button('Run test').click();
    await page.getByText(/succeeded in/).waitFor();
    const { body } = await server.api('GET', '/api/tools/order_status');
    expect(value).toBe('');
    expect(body.timeoutMs).toBe(900);
    expect(asked.at(-1)?.headers.authorization).toBe(TOKEN);
  });

  test('what was typed is kept over a look at another page, but no secret', async () => {
    await page.getByLabel('Description').fill('Half a thought');
    await page.getByLabel('Value').fill('half-a-secret');
    await go('tools', 'Tools');
    const box = (await page.evaluate('JSON.stringify(sessionStorage)')) as string;
    await page.goBack();
    await page.getByText('Your unsaved changes from before are back.').waitFor();
    const kept = await page.getByLabel('Description').inputValue();
    await button('Discard changes').click();

    expect([kept, box.includes('Half a thought'), box.includes('half-a-secret')]).toEqual([
      'Half a thought',
      true,
      false,
    ]);
    expect(await page.getByLabel('Description').inputValue()).toContain('Looks up an order.');
  });

  test('two people who edit a tool in two browsers lose no word', async () => {
    const other = await openAnother(server, browser);
    await other.page.goto(page.url());
    const theirs = other.page.getByLabel('Say while waiting');
    await theirs.fill('One moment, I look it up.');
    await page.getByLabel('Description').fill('Written by the first');
    await button('Save').click();
    await page.getByText('Tool saved').waitFor();

    await other.page.getByRole('button', { name: 'Save', exact: true }).click();
    await other.page.getByText('Someone else has saved changes in the meantime.').waitFor();
    const compared = await other.page.locator('.differences').textContent();
    await other.picture('tool-conflict');
    const findings = await other.findings();
    await other.page.getByRole('button', { name: 'Apply my changes to theirs' }).click();
    const typed = await theirs.inputValue();
    await other.page.getByRole('button', { name: 'Save', exact: true }).click();
    await other.page.getByText('Tool saved').waitFor();

    const { body } = await server.api('GET', '/api/tools/order_status');
    expect(compared).toContain('One moment, I look it up.');
    expect([findings, typed]).toEqual([[], 'One moment, I look it up.']);
    expect(body).toMatchObject({ description: 'Written by the first', sayWhileWaiting: typed });
  });

  test('a server that is gone is told as what went wrong', async () => {
    await server.api('PATCH', '/api/tools/order_status', {
      url: 'http://127.0.0.1:9/{orderId}',
      headers: [],
    });
    await page.reload();
    await page.getByLabel('Arguments (JSON)').fill('{"orderId": "B-1"}');
    await button('Run test').click();

    await page.getByText('no server listens at its port').waitFor();
  });

  test('a tool that an agent lists stays; deleting asks', async () => {
    const agentId = await server.createAgent({ tools: ['order_status'] });
    await button('Delete tool').click();
    await dialog().getByRole('button', { name: 'Delete tool' }).click();
    const refusal = await page
      .getByRole('status')
      .getByText(/order_status/)
      .textContent();
    await go(`agents/${agentId}`, 'Reception');
    const isChosen = await page.getByLabel('order_status', { exact: true }).isChecked();
    await server.api('PATCH', `/api/agents/${agentId}`, { tools: [] });
    await go('tools/order_status', 'order_status');
    await button('Delete tool').click();
    await dialog().getByRole('button', { name: 'Delete tool' }).click();
    await page.getByText('No tools yet.').waitFor();

    expect([refusal?.includes('Cannot delete'), isChosen]).toEqual([true, true]);
  });

  test('an MCP server is made known, and its tools are allowed by name', async () => {
    const mcp = await openMcpShop();
    await go('tools', 'Tools');
    await button('Add MCP server').click();
    await dialog().getByLabel('Name').fill('shop');
    await dialog().getByLabel('URL').fill('https://192.168.1.1/mcp');
    await dialog().getByRole('button', { name: 'Add MCP server' }).click();
    await dialog().getByText('WEBHOOK_ALLOW_PRIVATE=true').waitFor();
    await dialog().getByLabel('URL').fill(mcp.url);
    await dialog().getByRole('button', { name: 'Add MCP server' }).click();
    await page.getByRole('cell', { name: 'shop', exact: true }).waitFor();
    await button('Tools').click();
    await dialog().getByText('Looks up where an order is.').waitFor();
    await dialog().getByLabel('find.order').check();
    await shown.picture('mcp-offered');
    const findings = await shown.findings();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'find.order' }).waitFor();

    const { body } = await server.api('GET', '/api/mcp-servers/shop');
    expect([findings, body.allowedTools]).toEqual([[], ['find.order']]);
  });

  test('a calendar is made by hours; a wrong one is refused at its hours', async () => {
    await go('calendars', 'Calendars');
    await page.getByRole('link', { name: 'New calendar' }).click();
    await page.getByLabel('Name').fill('front-desk');
    await page.getByLabel('Time zone').selectOption('Europe/Rome');
    const hours = page.getByRole('group', { name: 'Working hours' });
    await hours.getByLabel('To').first().fill('08:00');
    await button('Create calendar').click();
    await hours.locator('.wrong').waitFor();
    await shown.picture('calendar-new');
    const findings = await shown.findings();
    await hours.getByLabel('To').first().fill('12:30');
    await button('Create calendar').click();
    await page.getByRole('heading', { name: 'front-desk' }).waitFor();

    const { body } = await server.api('GET', '/api/calendars/front-desk');
    expect(findings).toEqual([]);
    expect(body).toMatchObject({ timeZone: 'Europe/Rome', slotMinutes: 30 });
    expect(body.workingHours).toMatchObject({ monday: [{ from: '09:00', to: '12:30' }] });
  });

  test('the link of the feed is renewed after a question, and a calendar without an agent deleted', async () => {
    const feed = page.getByRole('region', { name: 'Subscribe' });
    const before = await feed.locator('.secret').textContent();
    await feed.getByRole('button', { name: 'New link' }).click();
    await dialog().getByRole('button', { name: 'New link' }).click();
    await page.getByText('New link created').waitFor();
    await expect.poll(() => feed.locator('.secret').textContent()).not.toBe(before);
    const old = await fetch(new URL(before ?? '').pathname.replace(/^/, server.baseUrl));
    await button('Delete calendar').click();
    await dialog().getByRole('button', { name: 'Delete calendar' }).click();
    await page.getByText('No calendars yet.').waitFor();

    expect(old.status).toBe(404);
  });

  test('a CalDAV password is sent and never shown', async () => {
    await go('calendars/+', 'New calendar');
    await page.getByLabel('Name').first().fill('practice');
    await page.getByLabel('Kind').selectOption('caldav');
    await page.getByLabel('URL').fill('http://127.0.0.1:9/dav/');
    await page.getByLabel('User name').fill(EVIL);
    await page.getByLabel('Password').fill('an-app-password');
    await button('Create calendar').click();
    await page.getByRole('heading', { name: 'practice' }).waitFor();
    await page.getByLabel('User name').waitFor();

    expect(await page.getByLabel('User name').inputValue()).toBe(EVIL);
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    expect(await page.content()).not.toContain('an-app-password');
  });

  test('appointments are listed by day, with what is still open', async () => {
    await seedAppointments(server, 'desk', EVIL);
    await go('calendars/desk', 'desk');
    const list = page.getByRole('region', { name: 'Appointments' });
    await list.getByText('to be confirmed').waitFor();
    await shown.picture('calendar');

    expect(await list.locator('h3').count()).toBe(2);
    expect(await list.locator('.appointment').first().textContent()).toContain(EVIL);
    expect(await list.getByText('the time is taken: call back').count()).toBe(1);
    expect(await shown.findings()).toEqual([]);
  });

  test('it speaks German, fits a telephone’s screen, and nothing hostile has run', async () => {
    await shown.choose('Deutsch');
    await page.getByText('noch zu bestätigen').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    const wide: string[] = [];
    for (const hash of ['tools', 'tools/+', 'calendars', 'calendars/desk', 'agents/new']) {
      await page.goto(`${server.baseUrl}/#/${hash}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      if (await shown.isTooWide()) wide.push(hash);
      await shown.picture(`de-360-${hash.replaceAll(/\W+/g, '-')}`);
    }

    expect(wide).toEqual([]);
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(shown.complaints).toEqual([]);
  });
});
