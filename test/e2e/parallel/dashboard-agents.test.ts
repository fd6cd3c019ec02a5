/** Agents in the dashboard: how words are said, earlier versions, and trying one by writing. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const EVIL = '<img src=x onerror="window.hit=1">';

describeWith(['chromium'], 'agents in the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId = '';

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    agentId = await server.createAgent({
      greeting: `Hello ${EVIL}`,
      tools: ['transfer_call'],
      settings: { transferTargets: [{ label: 'sales', number: '+12025550188' }] },
    });
    await page.goto(`${server.baseUrl}/#/agents/${agentId}`);
    await page.getByRole('heading', { name: 'Reception' }).waitFor();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const version = (number: number) =>
    page
      .getByRole('row')
      .filter({ has: page.getByRole('cell', { name: `${number}`, exact: true }) });

  test('the page says which engines stand in, and the command that mends it', async () => {
    const warning = page.getByRole('region', { name: 'This server answers with stand-ins' });
    await warning.waitFor();
    await shown.picture('agent-stand-ins');
    const findings = await shown.findings();

    const text = await warning.textContent();
    expect(text).toContain('Language model: A rule book answers instead of a language model');
    expect(text).toContain('Speech to text: Understands a closed set of phrases only.');
    expect(text).toContain('Run “npm run models”, then restart the server.');
    expect(text).toContain('LLM=auto takes the best engine that is installed.');
    expect(findings).toEqual([]);
  });

  test('the phone says it before the call', async () => {
    await button('Talk to it').click();
    const dialog = page.getByRole('dialog');

    await dialog.getByText('Speech to text: Understands a closed set of phrases only.').waitFor();
    await shown.picture('phone-stand-ins');
    expect(await dialog.textContent()).toContain('Run “npm run models”');
    expect(await shown.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).click();
  });

  test('a word that cannot be said is refused at its row, then kept', async () => {
    await button('Add a word').click();
    await button('Add a word').click();
    await page.keyboard.type('Nguyen');
    await button('Publish').click();

    const spoken = page.getByLabel('Spoken as');
    await expect.poll(() => spoken.first().getAttribute('aria-invalid')).toBe('true');
    await shown.picture('agent-words');
    const rows = await spoken.count();
    await spoken.fill('nwin');
    await button('Publish').click();
    await version(2).waitFor();

    // The row that nothing was written in is gone.
    expect(rows).toBe(1);
    expect(await version(2).textContent()).toContain('Pronunciations');
  });

  test('a change makes a version that shows every word that went and came', async () => {
    await page.getByLabel('Instructions').fill('You answer the telephone of a busy dentist.');
    await button('Publish').click();
    await version(3).getByRole('button', { name: 'Compare' }).click();

    const dialog = page.getByRole('dialog');
    await dialog.locator('ins').waitFor();
    const findings = await shown.findings();
    await shown.picture('agent-versions');

    expect(await dialog.locator('dt').allTextContents()).toEqual(['Instructions']);
    expect(await dialog.locator('ins').allTextContents()).toEqual(['busy ']);
    expect(await dialog.locator('del').count()).toBe(0);
    expect(findings).toEqual([]);
    await page.keyboard.press('Escape');
  });

  test('restoring a version shows its changes first, and refills the form', async () => {
    await version(1).getByRole('button', { name: 'Compare' }).click();
    const fields = page.getByRole('dialog').locator('dt');
    await fields.first().waitFor();
    const named = await fields.allTextContents();
    await page.keyboard.press('Escape');
    await version(1).getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await version(4).waitFor();

    expect(named).toEqual(['Instructions', 'Pronunciations']);
    expect(await page.getByLabel('Instructions').inputValue()).not.toContain('busy');
    expect(await page.getByLabel('Spoken as').count()).toBe(0);
  });

  test('it is tried by writing: it speaks first, answers, and its tools are not run', async () => {
    const panel = page.getByRole('region', { name: 'Test chat' });
    const log = page.getByRole('log');
    await log.locator('.said').first().waitFor();
    const first = await log.locator('.said').allTextContents();
    await page.getByLabel('Message', { exact: true }).fill('What are your opening hours?');
    await page.keyboard.press('Enter');
    await expect.poll(() => log.locator('.said-agent').count()).toBe(2);
    const answer = await log.locator('.said-agent').last().textContent();
    const times = await log.locator('.took').last().textContent();
    await page.keyboard.type('Transfer me to a person.');
    await page.keyboard.press('Enter');

    await log.getByText('not run').waitFor();
    await shown.picture('agent-chat');
    expect(first).toEqual([`AgentHello ${EVIL}`]);
    expect(answer).toContain(
      'A rule book gave this answer. The agent’s instructions were not used.',
    );
    expect(times).toMatch(/ · \d+ ms · tools and documents \d+ ms · first word \d+ ms · rest of/);
    expect(await log.locator('.took rect').count()).toBe(6);
    expect(await panel.count()).toBe(1);
    expect(await log.locator('code').textContent()).toContain('transfer_call(');
    expect(await shown.findings()).toEqual([]);
  });

  test('what was typed is kept over a look at another page, until it is discarded', async () => {
    const instructions = page.getByLabel('Instructions');
    const before = await instructions.inputValue();
    await instructions.fill('Half a thought');
    await page.goto(`${server.baseUrl}/#/calls`);
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await page.goBack();

    await page.getByText('Your unsaved changes from before are back.').waitFor();
    const kept = await instructions.inputValue();
    await button('Discard changes').click();

    expect(kept).toBe('Half a thought');
    expect(await instructions.inputValue()).toBe(before);
  });

  test('a concurrent change of another user is shown next to this one, and neither is lost', async () => {
    await page.getByLabel('Greeting').fill('Hello from me');
    const { status } = await server.api('PATCH', `/api/agents/${agentId}`, {
      systemPrompt: 'Written by somebody else.',
    });
    await button('Publish').click();
    await page.getByText('Someone else has saved changes in the meantime.').waitFor();
    await shown.picture('agent-conflict');
    const findings = await shown.findings();
    await button('Apply my changes to theirs').click();
    await button('Publish').click();
    await page.getByText('Agent published').waitFor();

    const { body } = await server.api('GET', `/api/agents/${agentId}`);
    expect([status, findings]).toEqual([200, []]);
    expect(body).toMatchObject({
      greeting: 'Hello from me',
      systemPrompt: 'Written by somebody else.',
    });
  });

  test('documents are added as text and as a file, read and deleted', async () => {
    const knowledge = page.getByRole('region', { name: 'Knowledge' });
    const dialog = page.getByRole('dialog');
    await knowledge.getByText('No documents yet.').waitFor();
    await knowledge.getByRole('button', { name: 'Add document' }).click();
    await dialog.getByLabel('Or text').fill(`We open at nine. ${EVIL}`);
    await dialog.getByRole('button', { name: 'Add document' }).click();
    await expect.poll(() => dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Name').fill(EVIL);
    await dialog.getByRole('button', { name: 'Add document' }).click();
    await knowledge.getByRole('row').filter({ hasText: EVIL }).waitFor();

    await knowledge.getByRole('button', { name: 'Add document' }).click();
    const buffer = Buffer.from('<h1>Prices</h1><p>A check-up is 40 euros.</p>');
    await dialog
      .getByLabel('File')
      .setInputFiles({ name: 'prices.html', mimeType: 'text/html', buffer });
    expect(await dialog.getByLabel('Or text').count()).toBe(0);
    await shown.picture('agent-add-document');
    expect(await shown.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Add document' }).click();
    const prices = knowledge.getByRole('row').filter({ hasText: 'prices.html' });
    await prices.getByRole('button', { name: 'Show text' }).click();
    await dialog.getByText('A check-up is 40 euros.').waitFor();
    expect(await shown.findings()).toEqual([]);
    await page.keyboard.press('Escape');

    for (const name of [EVIL, 'prices.html']) {
      const row = knowledge.getByRole('row').filter({ hasText: name });
      await row.getByRole('button', { name: 'Delete' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await row.waitFor({ state: 'detached' });
    }
  });

  test('it fits a telephone’s screen, dark', async () => {
    // What lies half under the bar at the top counts as too small.
    await page.evaluate('scrollTo(0, 0)');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: 'dark' });

    await shown.picture('agent-chat-dark-360');

    expect(await shown.isTooWide()).toBe(false);
    expect(await shown.findings()).toEqual([]);
  });

  test('no user input has run as code, and the policy had nothing to block', async () => {
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(shown.complaints).toEqual([]);
  });
});
