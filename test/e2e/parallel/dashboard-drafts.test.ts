/** Drafts on the page of an agent: kept on the server, tried, published, discarded, and edited by two people. */
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

const LIVE = 'Hello, this is live.';

describeWith(['chromium'], 'drafts of an agent', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let other: Page;
  let agentId: string;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    agentId = await server.createAgent({ greeting: LIVE, phoneNumber: '+12025550123' });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    other = (await openAnother(server, browser)).page;
    for (const each of [page, other]) each.setDefaultTimeout(10_000);
    await show(page);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const show = async (where: Page) => {
    await where.goto(`${server.baseUrl}/#/agents/${agentId}`);
    await where.reload();
    await where.getByLabel('Greeting').waitFor();
  };
  const button = (where: Page, name: string) => where.getByRole('button', { name, exact: true });
  const greeting = (where: Page) => where.getByLabel('Greeting').inputValue();
  const draftLine = (where: Page) => where.getByText(/^Draft of .*, not live$/);
  const panel = (where: Page) => where.getByRole('complementary', { name: 'Try the agent' });
  const live = async () => (await server.api('GET', `/api/agents/${agentId}`)).body;
  const saveDraft = async (where: Page) => {
    await button(where, 'Save draft').click();
    await where.getByText('Draft saved').waitFor();
    await where.getByText('Draft saved').waitFor({ state: 'detached' });
  };

  test('a saved draft is there after a reload and in another browser, and the agent stays as it is', async () => {
    await page.getByLabel('Greeting').fill('Hello, this is the draft.');
    await page.getByText('Unsaved changes').waitFor();
    await saveDraft(page);
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    await show(page);
    await show(other);
    await Promise.all([draftLine(page).waitFor(), draftLine(other).waitFor()]);
    await shown.picture('agent-draft');

    expect(await Promise.all([greeting(page), greeting(other)])).toEqual(
      Array(2).fill('Hello, this is the draft.'),
    );
    expect(await live()).toMatchObject({ greeting: LIVE });
    expect(await shown.findings()).toEqual([]);
  });

  test('the test panel says that it tries the draft, and greets and answers as it', async () => {
    const asked = page.waitForRequest(/\/chat$/);
    await panel(page).getByText('This tests the draft.').waitFor();
    await panel(page).getByLabel('Message').fill('When are you open?');
    await page.keyboard.press('Enter');
    await panel(page).locator('.took').waitFor();
    const said = await panel(page).getByRole('log').textContent();
    await button(page, 'Talk to it').click();
    const phone = page.getByRole('dialog', { name: 'Call to Reception (draft)' });
    await phone.waitFor();
    await phone.getByRole('button', { name: 'Close' }).click();

    expect((await asked).postDataJSON()).toMatchObject({ draft: true });
    expect(said).toContain('Hello, this is the draft.');
    expect(said).not.toContain(LIVE);
  });

  test('two people who edit the draft in two browsers lose no word', async () => {
    await page.getByLabel('Greeting').fill('Greeting of the first');
    await other.getByLabel('Instructions').fill('Instructions of the second');
    await saveDraft(page);

    await button(other, 'Save draft').click();
    await other.getByText('Someone else has saved changes in the meantime.').waitFor();
    const typed = await other.getByLabel('Instructions').inputValue();
    await button(other, 'Apply my changes to theirs').click();
    await saveDraft(other);

    const { body } = await server.api('GET', `/api/agents/${agentId}/draft`);
    expect(typed).toBe('Instructions of the second');
    expect(body.changes).toEqual({
      greeting: 'Greeting of the first',
      systemPrompt: 'Instructions of the second',
    });
  });

  test('publishing makes the draft live with what is unsaved, as one version', async () => {
    await other.getByLabel('Name', { exact: true }).first().fill('Front desk');
    await button(other, 'Publish').click();
    await other.getByText('Agent published').waitFor();
    await draftLine(other).waitFor({ state: 'detached' });
    await panel(other).getByText('This tests the published agent.').waitFor();

    const { body } = await server.api('GET', `/api/agents/${agentId}/versions`);
    const draft = await server.api('GET', `/api/agents/${agentId}/draft`);
    expect(await live()).toMatchObject({
      name: 'Front desk',
      greeting: 'Greeting of the first',
      systemPrompt: 'Instructions of the second',
    });
    expect([body.total, draft.status]).toEqual([2, 404]);
  });

  test('a page that has the published draft open still is told, and keeps its words', async () => {
    await page.getByLabel('Greeting').fill('Words of the first');
    await button(page, 'Save draft').click();
    await page.getByText('Someone else has saved changes in the meantime.').waitFor();
    await button(page, 'Apply my changes to theirs').click();
    await saveDraft(page);

    const { body } = await server.api('GET', `/api/agents/${agentId}/draft`);
    expect(body.changes).toEqual({ greeting: 'Words of the first' });
  });

  test('a draft of an agent that was changed since is compared with it when the page opens', async () => {
    await server.api('PATCH', `/api/agents/${agentId}`, { greeting: 'Changed by a program' });
    await show(page);
    const conflict = page.getByRole('alert').filter({ hasText: 'Someone else has saved' });
    await conflict.getByText('program').first().waitFor();
    const typed = await greeting(page);
    await button(page, 'Apply my changes to theirs').click();
    await button(page, 'Publish').click();
    await page.getByText('Agent published').waitFor();

    expect(typed).toBe('Words of the first');
    expect(await live()).toMatchObject({ greeting: 'Words of the first', name: 'Front desk' });
  });

  test('discarding a draft asks, and shows the live agent again', async () => {
    await page.getByLabel('Greeting').fill('Never published');
    await saveDraft(page);
    await page.getByLabel('Instructions').fill('Never saved');
    await button(page, 'Discard draft').click();
    const dialog = page.getByRole('dialog', { name: 'Discard draft' });
    await dialog.getByText('The published agent stays as it is.').waitFor();
    await dialog.getByRole('button', { name: 'Discard draft' }).click();
    await page.getByText('Draft discarded').waitFor();
    await draftLine(page).waitFor({ state: 'detached' });

    expect(await greeting(page)).toBe('Words of the first');
    expect(await page.getByLabel('Instructions').inputValue()).toBe('Instructions of the second');
    expect((await server.api('GET', `/api/agents/${agentId}/draft`)).status).toBe(404);
    expect(shown.complaints.filter((text) => !text.includes('412'))).toEqual([]);
  });

  test('a number that is taken out is released by publishing, not by a draft', async () => {
    await page.getByLabel('Phone number').fill('');
    await page.getByLabel('Greeting').fill('Hello without a number');
    await page.getByText('A draft can’t release the number.').waitFor();
    await saveDraft(page);
    const draft = (await server.api('GET', `/api/agents/${agentId}/draft`)).body;
    const between = await live();
    await button(page, 'Publish').click();
    await page.getByText('Agent published').waitFor();

    expect(draft.changes).toEqual({ greeting: 'Hello without a number' });
    expect(between).toMatchObject({ phoneNumber: '+12025550123' });
    expect(await live()).toMatchObject({ phoneNumber: null, greeting: 'Hello without a number' });
  });

  test('on a phone the bar is no wider than the page', async () => {
    await page.getByLabel('Greeting').fill('Hello from a phone');
    await saveDraft(page);
    await page.getByLabel('Greeting').fill('Hello again from a phone');
    await page.setViewportSize({ width: 360, height: 740 });
    await shown.picture('agent-draft-360');

    expect(await shown.isTooWide()).toBe(false);
  });
});
