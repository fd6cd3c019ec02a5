/** The card of a call that goes on: its buttons stay where they are, to the pixel, and its timer counts. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Listener } from '../../../examples/demo/listener.ts';
import { Phone } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { phraseSaying } from '../../speech/spoken-phrases.ts';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

/** A machine that is shared is given its time. */
const SOON = { timeout: 20_000 };

const NUMBER = '+12025550123';

/** Until the agent has said what it has to say. */
const QUIET_MS = 600;
const WAIT_MS_MAX = 15_000;

describeWith(['chromium'], 'the card of a live call', () => {
  const phone = new Phone();
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    await server.createAgent({ name: 'Reception', phoneNumber: NUMBER });
    await phone.start();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
  });

  afterAll(async () => {
    await browser?.close();
    await phone.stop();
    await server?.stop();
  });

  const ring = async (): Promise<PhoneCall> => {
    const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
    onTestFinished(() => call.hangUp());
    return call;
  };

  /** The newest call stands first. */
  const newest = () => page.getByRole('article').first();

  test.each([
    { width: 1440, height: 900 },
    { width: 360, height: 740 },
  ])('its buttons do not move while words arrive and somebody listens, at $width px', async (size) => {
    await page.setViewportSize(size);
    await page.goto(`${server.baseUrl}/#/live`);
    await page.getByText('Connected').waitFor();
    await page.evaluate(WATCH_HANG_UP);
    const { line } = await ring();
    const card = newest();
    await card.getByRole('button', { name: 'Listen in' }).waitFor(SOON);
    // Comes with the answer, after the first.
    await card.getByRole('button', { name: 'Take over' }).waitFor(SOON);
    const takeOver = await card.getByRole('button', { name: 'Take over' }).boundingBox();

    await card.getByRole('button', { name: 'Listen in' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Listen', exact: true }).click();
    await card.getByText('You are listening').waitFor(SOON);
    await new Listener(line).hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
    await line.speak(phraseSaying('What are your opening hours?'));
    await expect.poll(() => card.locator('.said').count(), SOON).toBeGreaterThan(2);
    const places = await page.evaluate('[...window.places]');

    expect(places).toHaveLength(1);
    expect(await card.getByRole('button', { name: 'Take over' }).boundingBox()).toEqual(takeOver);
    expect(await shown.isTooWide()).toBe(false);
    expect(await shown.findings()).toEqual([]);
    await shown.picture(`live-card-${size.width}`);
  });

  test('its timer counts the seconds since the answer, and stops with the call', async () => {
    await page.reload();
    await page.getByText('Connected').waitFor();
    const call = await ring();
    const timer = newest().getByRole('timer');
    await expect.poll(() => timer.textContent(), SOON).toMatch(/^0:0[0-3]$/);

    await expect.poll(() => timer.textContent(), SOON).toBe('0:04');
    await call.hangUp();
    await newest().getByText('completed').waitFor(SOON);
    const atEnd = await timer.textContent();
    await page.waitForTimeout(1500);

    expect(await timer.textContent()).toBe(atEnd);
  });
});

/** Keeps each place at which the button is in any frame, from the first ring on. */
const WATCH_HANG_UP = `(() => {
  window.places = new Set();
  const look = () => {
    const button = document.querySelector('.live-card .hang-up');
    if (button !== null) {
      const { x, y, width, height } = button.getBoundingClientRect();
      window.places.add(JSON.stringify([x + scrollX, y + scrollY, width, height]));
    }
    requestAnimationFrame(look);
  };
  look();
})()`;
