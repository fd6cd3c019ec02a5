/** The two panes of an agent's page: begun from a template, tried next to its settings, and edited by two people. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import {
  buildDashboard,
  openAnother,
  openDashboard,
} from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const EVIL = '<img src=x onerror="window.hit=1">';

describeWith(['chromium'], 'the page of an agent', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.setDefaultTimeout(10_000);
    await page.goto(`${server.baseUrl}/#/agents/new`);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const agentOfPage = async () => {
    const id = /agents\/(agent_\w+)/.exec(page.url())?.[1];
    return (await server.api('GET', `/api/agents/${id}`)).body;
  };

  test('a template fills the form, and another one asks before it replaces words of one’s own', async () => {
    const instructions = page.getByLabel('Instructions');
    await page.getByRole('button', { name: 'Booking' }).click();
    await expect.poll(() => instructions.inputValue()).toContain('You book, move and cancel');
    await page.getByRole('button', { name: 'Support' }).click();
    await expect.poll(() => instructions.inputValue()).toContain('first line of technical support');
    await instructions.fill('Words of my own.');
    await page.getByRole('button', { name: 'Booking' }).click();
    await page.getByRole('dialog').getByText('The template replaces').waitFor();
    await shown.picture('agent-template');
    await page.keyboard.press('Escape');
    const kept = await instructions.inputValue();
    await page.getByRole('button', { name: 'Booking' }).click();
    await button('Use template').click();

    expect(kept).toBe('Words of my own.');
    await expect.poll(() => instructions.inputValue()).toContain('You book, move and cancel');
  });

  test('a variable is inserted at the cursor, and undo takes it back', async () => {
    const instructions = page.getByLabel('Instructions');
    const before = await instructions.inputValue();
    await instructions.press('Control+Home');
    await button('{{name|there}}').click();
    const inserted = await instructions.inputValue();
    const focused = await page.evaluate('document.activeElement?.tagName');
    await page.keyboard.press('Control+z');

    expect(inserted).toBe(`{{name|there}}${before}`);
    expect(focused).toBe('TEXTAREA');
    await expect.poll(() => instructions.inputValue()).toBe(before);
  });

  test('a refusal leads the keyboard to the first wrong field', async () => {
    const seconds = page.getByLabel('Maximum call length (s)', { exact: true });
    const before = await seconds.inputValue();
    await seconds.fill('5');
    await button('Create agent').click();
    await page.getByRole('alert').waitFor();
    await page.locator('input:focus').waitFor();
    const focused = await seconds.evaluate((field) => field.matches(':focus'));
    await seconds.fill(before);

    expect(focused).toBe(true);
  });

  test('hostile words in the rows of targets are kept as words, and a missing number is told', async () => {
    const targets = page.getByRole('group', { name: 'Transfer to' });
    await button('Add a target').click();
    await targets.locator('input:focus').waitFor();
    await page.keyboard.type(EVIL);
    await button('Create agent').click();
    const number = targets.getByLabel('Number');
    await page.getByRole('alert').waitFor();
    await shown.picture('agent-targets');
    await number.fill('+12025550188');
    await button('Create agent').click();
    await page.waitForURL(/#\/agents\/agent_/);

    const agent = await agentOfPage();
    expect(agent.tools).toEqual(['book_appointment', 'end_call']);
    expect(agent.settings).toMatchObject({
      transferTargets: [{ label: EVIL, number: '+12025550188' }],
    });
  });

  test('it is tried next to its settings, with the time of each answer', async () => {
    const panel = page.getByRole('complementary', { name: 'Try the agent' });
    await panel.getByLabel('Message').fill(`When are you open? ${EVIL}`);
    await page.keyboard.press('Enter');
    await panel.locator('.took').waitFor();
    await panel.getByLabel('Message').focus();
    const left = await page.locator('.pane-main').boundingBox();
    const right = await panel.boundingBox();
    await shown.picture('agent-panes');

    expect(await panel.locator('.took').textContent()).toMatch(/first word \d+ ms/);
    expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0));
    expect(await shown.findings()).toEqual([]);
  });

  test('unsaved changes are told at the foot, shown, and named in the test panel', async () => {
    await page.getByLabel('Greeting').fill('Good day to you');
    await page.getByText('Unsaved changes').waitFor();
    await page.getByText('This tests the published agent. Save a draft to test your').waitFor();
    const bar = await page.locator('.save-bar').boundingBox();
    await button('Show changes').click();
    await page.getByRole('dialog').locator('dt').first().waitFor();
    const fields = await page.getByRole('dialog').locator('dt').allTextContents();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await button('Discard').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });

    expect(fields).toEqual(['Greeting']);
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual(900);
    expect(await page.getByLabel('Greeting').inputValue()).toContain('appointment line');
  });

  test('a voice is chosen by language and name, and heard before', async () => {
    await button('Choose voice').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Language').selectOption('de');
    await dialog.getByLabel('Search by name').fill('conrad');
    await page.keyboard.press('Enter');
    const preview = page.waitForResponse(/preview/);
    await dialog.getByRole('button', { name: 'Play Conrad' }).click();
    await shown.picture('agent-voices');
    const findings = await shown.findings();
    const sound = await preview;
    await dialog.getByRole('button', { name: /^Conrad · / }).click();
    await button('Publish').click();
    await page.getByText('Agent published').waitFor();

    expect([sound.status(), findings]).toEqual([200, []]);
    expect(await agentOfPage()).toMatchObject({ voice: 'de-DE-ConradNeural', language: 'de-DE' });
  });

  test('a tab with unsaved changes asks before it is closed', async () => {
    await page.getByLabel('Greeting').click();
    await page.keyboard.type('Unsaved ');
    const asked = page.waitForEvent('dialog');

    await page.close({ runBeforeUnload: true });
    const dialog = await asked;
    await dialog.dismiss();

    expect(dialog.type()).toBe('beforeunload');
    expect(await page.getByLabel('Greeting').inputValue()).toContain('Unsaved ');
    await button('Discard').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
  });

  test('two people who edit it in two browsers lose no word', async () => {
    const other = await openAnother(server, browser);
    await other.page.goto(page.url());
    await other.page.getByLabel('Greeting').waitFor();
    await page.getByLabel('Greeting').fill('Greeting of the first');
    await other.page.getByLabel('Instructions').fill('Instructions of the second');
    await button('Publish').click();
    await page.getByText('Agent published').waitFor();

    await other.page.getByRole('button', { name: 'Publish', exact: true }).click();
    await other.page.getByText('Someone else has saved changes in the meantime.').waitFor();
    const shownThere = await other.page.getByLabel('Instructions').inputValue();
    await other.page.getByRole('button', { name: 'Apply my changes to theirs' }).click();
    await other.page.getByRole('button', { name: 'Publish', exact: true }).click();
    await other.page.getByText('Agent published').waitFor();

    expect(shownThere).toBe('Instructions of the second');
    expect(await agentOfPage()).toMatchObject({
      greeting: 'Greeting of the first',
      systemPrompt: 'Instructions of the second',
    });
  });

  test('one column on a phone, and nothing hostile has run', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.reload();
    await page.getByLabel('Greeting').waitFor();
    const left = await page.locator('.pane-main').boundingBox();
    const right = await page.locator('.pane-test').boundingBox();
    await shown.picture('agent-panes-360');

    expect(right?.x).toBe(left?.x);
    expect(await shown.isTooWide()).toBe(false);
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(shown.complaints).toEqual([]);
  });
});
