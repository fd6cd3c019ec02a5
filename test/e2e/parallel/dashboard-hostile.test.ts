/** Hostile text in every field of every page: it stays text, whether it is sent, refused or only typed. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { seedCalls } from '../../support/store/seed-calls.ts';

/** Text, an attribute, a script, an address: `window.hit` is set where any of them is taken for more than words. */
const HOSTILE = [
  '<img src=x onerror="window.hit=1">',
  '"><svg onload="window.hit=1">',
  '</textarea><script>window.hit=1</script>',
  'javascript:window.hit=1',
];

/** Pages, each with the buttons that open its windows. */
const PAGES: readonly (readonly [hash: string, ...windows: readonly string[]])[] = [
  ['overview'],
  ['calls', 'Place a call'],
  ['calls/{call}'],
  ['campaigns/new'],
  ['agents/new'],
  ['agents/{agent}'],
  ['tools', 'Add MCP server'],
  ['tools/+'],
  ['calendars/+'],
  ['gateways', 'Add gateway', 'Add number'],
  ['numbers'],
  ['trunks/+'],
  ['trunks/+?step=access'],
  ['trunks/+?step=numbers'],
  ['trunks/acme', 'Test call'],
  ['analytics'],
  ['webhooks', 'Add endpoint'],
  ['keys'],
  ['logs'],
  ['settings'],
  ['models'],
  ['users'],
  ['audit-log'],
];

const FIELDS = [
  'input:not([type=checkbox], [type=radio], [type=file], [type=number], [type=range], [type^=date], [type=time])',
  'textarea',
].join(', ');

/** Fields that are folded away are fields too. */
const OPEN_ALL = `for (const folded of document.querySelectorAll('form details')) folded.open = true`;

describeWith(['chromium'], 'every page of the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  const ids = new Map<string, string>();
  /** Fields that were filled, by page. */
  const filled = new Map<string, number>();

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    const [hostile = ''] = HOSTILE;
    ids.set('agent', await server.createAgent({ name: hostile, greeting: hostile }));
    await seedCalls(server, { agentId: ids.get('agent') ?? '', count: 1 });
    const calls = (await server.api('GET', '/api/calls')).body.data as readonly { id: string }[];
    ids.set('call', calls[0]?.id ?? '');
    const trunk = { name: 'acme', proxy: '127.0.0.1:9', numbers: ['+12025550123'] };
    await server.api('POST', '/api/trunks', trunk);
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.on('dialog', (dialog) => void dialog.accept());
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** Types the text into every field inside, and sends every form there. */
  const attack = async (hash: string, inside: string, text: string) => {
    await page.evaluate(OPEN_ALL);
    for (const field of await page.locator(inside).locator(FIELDS).all()) {
      if (!(await field.isVisible()) || !(await field.isEditable())) continue;
      await field.fill(text);
      filled.set(hash, (filled.get(hash) ?? 0) + 1);
    }
    for (const button of await page.locator(`${inside} form button[type=submit]`).all()) {
      if ((await button.isVisible()) && (await button.isEnabled())) await button.click();
    }
    await page.waitForLoadState('networkidle');
  };

  test.each(
    PAGES,
  )('#/%s takes hostile text for text in all its fields', async (hash, ...windows) => {
    for (const text of HOSTILE) {
      const path = hash.replace(/\{(\w+)\}/, (_, name: string) => ids.get(name) ?? '');
      await page.goto(`${server.baseUrl}/#/${path}`);
      await page.reload();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      for (const name of windows) {
        await page.getByRole('button', { name, exact: true }).first().click();
        await attack(hash, 'dialog[open]', text);
        for (let tries = 0; tries < 2; tries += 1) await page.keyboard.press('Escape');
      }
      await attack(hash, 'main', text);
    }

    expect(await page.evaluate('window.hit ?? 0')).toBe(0);
    expect(await page.locator('img[src="x"], svg[onload], a[href^="javascript:"]').count()).toBe(0);
    expect(shown.complaints).toEqual([]);
  });

  test('all of them but those without a text field were tried', () => {
    const untried = PAGES.map(([hash]) => hash).filter((hash) => !filled.has(hash));

    expect(untried).toEqual(['overview', 'numbers', 'analytics', 'models', 'users']);
  });
});
