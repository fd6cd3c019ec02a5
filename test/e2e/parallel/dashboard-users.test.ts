/** Several people at one dashboard: an invite, roles, and what each role is shown. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const PASSWORD = 'a horse of her own';

describeWith(['chromium'], 'users of the dashboard', () => {
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let guest: Page;
  let link = '';

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    await server.createAgent({ name: 'Reception' });
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    guest = (await BrowserPage.open(browser)).page;
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const at = (where: Page, hash: string) => where.goto(`${server.baseUrl}/#/${hash}`);

  const button = (where: Page, name: string) => where.getByRole('button', { name, exact: true });

  test('a card of the narrow page has no heading without a value', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${server.baseUrl}/#/users`);
    const own = page.getByRole('row').filter({ hasText: '(you)' });
    await own.waitFor();

    expect(await own.locator('td:empty').isVisible()).toBe(false);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('a new API key stays in view until it is kept: Escape does not lose it', async () => {
    await at(page, 'keys');
    await page.getByLabel('Name').fill('Website');
    await button(page, 'Create key').click();
    const shownKey = page.locator('dialog code');
    const before = await shownKey.textContent();

    // Browsers close a window at the second Escape whatever the page says to the first.
    await page.locator('dialog p').first().click();
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Escape');
    const after = await shownKey.textContent();
    const isOpen = await page.getByRole('dialog').isVisible();
    await button(page, 'Done').click();

    expect([after, isOpen]).toEqual([before, true]);
    expect(before).toMatch(/^svc_live_\w{32}$/);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  test('an admin makes an invite link, which is shown once', async () => {
    await at(page, 'users');
    await button(page, 'Create invite link').click();

    const text = (await page.locator('dialog code').textContent()) ?? '';

    expect(text).toMatch(/\/#\/join\?token=[\w-]{43}$/);
    link = `${server.baseUrl}/${text.slice(text.indexOf('#'))}`;
    await button(page, 'Done').click();
    await page.getByRole('group', { name: 'Open invites' }).getByText('Viewer').waitFor();
  });

  test('the invited person chooses name and password, and is in', async () => {
    await guest.goto(link);
    await guest.getByLabel('User name').fill('Grace');
    await guest.getByLabel('New password').fill(PASSWORD);
    await guest.getByLabel('Repeat password').fill(PASSWORD);
    await button(guest, 'Join').click();

    await guest.getByRole('heading', { name: 'Overview' }).waitFor();

    expect(guest.url()).not.toContain('token');
    await guest.locator('.user').click();
    await guest.getByText('Grace (Viewer)').waitFor();
    await guest.keyboard.press('Escape');
  });

  test('a viewer sees agents and no button that changes them, and no page of admins', async () => {
    await at(guest, 'agents');
    await guest.getByRole('link', { name: 'Reception' }).waitFor();

    const shownButtons = [
      await guest.getByRole('link', { name: 'New agent' }).count(),
      await guest.getByRole('button', { name: /^(Talk|Pause)/ }).count(),
      await guest.getByRole('link', { name: 'Users', exact: true }).count(),
      await guest.getByRole('link', { name: 'Audit log' }).count(),
    ];

    expect(shownButtons).toEqual([0, 0, 0, 0]);
    await guest.getByRole('link', { name: 'Reception' }).click();
    await guest.getByRole('heading', { name: 'Reception' }).waitFor();
    await guest.getByLabel('Name', { exact: true }).first().waitFor();
    const sending = guest.getByRole('button', { name: /^(Save|Publish)/ });
    expect(await sending.count()).toBe(0);
  });

  test('the page of users tells a viewer why it stays empty', async () => {
    await at(guest, 'users');

    await guest.getByText('it needs the role "admin"').first().waitFor();
  });

  test('a change of role signs the person out, and with several users signing in asks for the name', async () => {
    await page.reload();
    await page.getByRole('combobox', { name: 'Role of Grace' }).selectOption('editor');
    await page.getByText('Role of Grace changed').waitFor();
    await at(guest, 'calls');
    await guest.reload();

    await guest.getByLabel('User name').fill('grace');
    await guest.getByLabel('Password').fill(PASSWORD);
    await button(guest, 'Sign in').click();

    await at(guest, 'agents');
    await guest.getByRole('link', { name: 'New agent' }).first().waitFor();
  });

  test('the audit log shows who did what', async () => {
    await at(page, 'audit-log');

    const log = page.getByRole('group', { name: 'Changes' });
    await log.getByText('POST /dashboard/join').waitFor();
    await page.getByLabel('Who').selectOption({ label: 'Grace' });
    await log.getByText('PATCH /dashboard/users/{userId}').waitFor({ state: 'detached' });

    expect(await log.textContent()).not.toContain(PASSWORD);
    expect(shown.complaints).toEqual([]);
  });

  test('a user is renamed, and another name that is taken is refused in the window', async () => {
    await at(page, 'users');
    const row = page.getByRole('row', { name: /^Grace/ });
    await row.getByRole('button', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename Grace' });
    await dialog.getByLabel('User name').fill('ADMIN');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByText('the name is taken').waitFor();
    const findings = await shown.findings();

    await dialog.getByLabel('User name').fill('Grace Hopper');
    await dialog.getByRole('button', { name: 'Rename' }).click();

    await page.getByRole('row', { name: /^Grace Hopper/ }).waitFor();
    expect(findings).toEqual([]);
  });

  test('a link that is used says so', async () => {
    const late = (await BrowserPage.open(browser)).page;
    await late.goto(link);
    await late.getByLabel('User name').fill('Late');
    await late.getByLabel('New password').fill(PASSWORD);
    await late.getByLabel('Repeat password').fill(PASSWORD);
    await button(late, 'Join').click();

    await late.getByText('the link has been used').waitFor();
  });
});
