/** The dashboard in a browser, signed in as an operator is who has just opened the printed link. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import type { TestServer } from '../server/server.ts';
import { BrowserPage } from './browser.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PASSWORD = 'correct horse battery';
const LINK_MS_MAX = 5000;

/** Builds the page where its sources have changed, as `npm start` does. Before the server starts. */
export function buildDashboard(): void {
  spawnSync(join(ROOT, 'node_modules/.bin/node'), ['src/cli/build-dashboard.ts'], { cwd: ROOT });
}

/** A page of a profile of its own at the overview; the first of a server, because the link works once. */
export async function openDashboard(server: TestServer, browser: Browser): Promise<BrowserPage> {
  const shown = await BrowserPage.open(browser);
  await setUp(server, shown);
  return shown;
}

/** Sets the password in a page that there is already. */
export async function setUp(server: TestServer, { page }: BrowserPage): Promise<void> {
  await page.goto(await setupLink(server));
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** A page of another profile, signed in with the password that the first one has set. */
export async function openAnother(server: TestServer, browser: Browser): Promise<BrowserPage> {
  const shown = await BrowserPage.open(browser);
  const { page } = shown;
  await page.goto(server.baseUrl);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return shown;
}

/** By the address at which the test reaches the server, whatever name it has for itself. */
async function setupLink(server: TestServer): Promise<string> {
  const deadlineMs = performance.now() + LINK_MS_MAX;
  for (;;) {
    const path = /http\S+\/(#\/setup\?token=\S+)/.exec(server.output)?.[1];
    if (path !== undefined) return `${server.baseUrl}/${path}`;
    if (performance.now() > deadlineMs) throw new Error('The server printed no link');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
