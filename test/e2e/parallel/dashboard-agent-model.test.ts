/** The page of an agent, where the language model is chosen. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { type ManyModels, openManyModels } from '../../support/server/many-models.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

describeWith(['chromium'], 'the language model on the page of an agent', () => {
  let models: ManyModels;
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let agentId: string;

  beforeAll(async () => {
    buildDashboard();
    models = await openManyModels(['own:4b', 'small:1b']);
    server = await (await startServer({ environment: models.settings })).ready();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    page.setDefaultTimeout(10_000);
    agentId = await server.createAgent();
    await page.goto(`${server.baseUrl}/#/agents/${agentId}`);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    models?.stop();
  });

  const field = () => page.getByLabel('Language model');
  const modelOfAgent = async () => (await server.api('GET', `/api/agents/${agentId}`)).body.model;

  test('is the server’s own until another is chosen and saved', async () => {
    await field().waitFor();
    const choices = await field().locator('option').allTextContents();
    const before = await field().inputValue();
    await field().selectOption('small:1b');
    const findings = await shown.findings();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Agent published').waitFor();

    expect(choices).toEqual(["Server's own (ollama/own:4b)", 'own:4b', 'small:1b']);
    expect([before, findings]).toEqual(['', []]);
    expect(await modelOfAgent()).toBe('small:1b');
  });

  test('stays shown where the model server has it no longer', async () => {
    models.names.delete('small:1b');

    // The server keeps its list for some seconds.
    const chosen = async () => {
      await page.reload();
      await field().waitFor();
      return field().locator('option:checked').textContent();
    };
    await expect.poll(chosen, { timeout: 20_000 }).toBe('small:1b (not at the model server)');
  });

  test('is not asked for where there is nothing to choose', async () => {
    models.names.clear();

    const fields = async () => {
      await page.reload();
      await page.getByLabel('Response speed').waitFor();
      await page.waitForLoadState('networkidle');
      return field().count();
    };
    await expect.poll(fields, { timeout: 20_000 }).toBe(0);
  });
});
