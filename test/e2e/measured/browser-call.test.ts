/** A call from the dashboard: a browser whose microphone plays a spoken file, the whole server, and what both have of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserPage, launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { writeSpokenFile } from '../../support/dashboard/spoken-file.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const VOICE = 'en-US-GuyNeural';
const GREETING = 'Hello, can you hear me?';

/** The greeting is over by the first, and each answer by the next. */
const SENTENCES = [
  { atMs: 6000, text: 'What are your opening hours?' },
  { atMs: 13_000, text: 'Thank you very much.' },
];

const SOON = { timeout: 20_000, interval: 100 };

/** Keeps the page's connections, to look at their figures. */
const WATCH_PEERS = `
  window.peers = [];
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...options) { super(...options); window.peers.push(this); }
  };`;

/** Statistics of the newest connection, with the codec of the received audio. */
const FIGURES = `window.peers.at(-1).getStats().then((stats) => {
  const all = [...stats.values()];
  const incoming = all.find(({ type }) => type === 'inbound-rtp');
  return {
    codec: all.find(({ id }) => id === incoming?.codecId)?.mimeType,
    energy: incoming?.totalAudioEnergy ?? 0,
  };
})`;

const PHONE_FILES = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('talk-dialog')).length`;

interface Figures {
  readonly codec: string | undefined;
  readonly energy: number;
}

describeWith(['chromium', 'espeak-ng'], 'a call from the browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-microphone-'));
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;

  beforeAll(async () => {
    buildDashboard();
    const file = join(folder, 'caller.wav');
    await writeSpokenFile(file, SENTENCES, VOICE);
    server = await (await startServer()).ready();
    browser = await launchBrowser([
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${file}%noloop`,
      // A machine without a network has no other address.
      '--allow-loopback-in-peer-connection',
    ]);
    shown = await openDashboard(server, browser);
    page = shown.page;
    await page.evaluate(WATCH_PEERS);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const phone = () => page.getByRole('dialog');
  const status = () => page.locator('.phone-line [role=status]').textContent();
  const figures = async () => (await page.evaluate(FIGURES)) as Figures;
  const meter = async () => Number(await page.locator('meter').getAttribute('value'));
  const words = (role: 'agent' | 'user') =>
    phone().locator(`.said-${role}:not(.hearing) .text`).allTextContents();

  test('an agent is made', async () => {
    await page.goto(`${server.baseUrl}/#/agents/new`);
    await page.getByLabel('Name').fill('Reception');
    await page.getByLabel('Greeting').fill(GREETING);
    await page.getByLabel('Instructions').fill('You answer the telephone of a dentist.');
    await button('Create agent').click();

    await page.waitForURL(/#\/agents\/agent_/);
    await page.getByRole('heading', { name: 'Reception' }).waitFor();
  });

  test('the phone is loaded only on demand', async () => {
    const before = await page.evaluate(PHONE_FILES);

    await button('Talk to it').click();
    await phone().waitFor();

    expect(before).toBe(0);
    expect(await page.evaluate(PHONE_FILES)).toBeGreaterThan(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Call');
  });

  test('it says what to do where the microphone is refused', async () => {
    await button('Call').click();

    const problem = phone().getByRole('alert');
    await problem.waitFor();
    await shown.picture('phone-refused');
    expect(await problem.textContent()).toContain('was not allowed to use the microphone');
    expect(await problem.textContent()).toContain('Allow it');
    expect(await status()).toBe('The call couldn’t be connected.');
    expect(await shown.findings()).toEqual([]);
  });

  test('the agent is called, and heard', async () => {
    await page.context().grantPermissions(['microphone'], { origin: server.baseUrl });

    await button('Call again').click();

    await expect.poll(status, SOON).toBe('In the call');
    await expect.poll(() => words('agent'), SOON).toEqual([GREETING]);
    await expect.poll(async () => (await figures()).energy, SOON).toBeGreaterThan(0.001);
    expect((await figures()).codec).toBe('audio/PCMU');
  });

  test('what the microphone hears is seen as it is said, word for word', async () => {
    const [first, second] = SENTENCES.map(({ text }) => text);

    await expect.poll(meter, SOON).toBeGreaterThan(0.3);
    await expect.poll(() => words('user'), SOON).toEqual([first]);
    await shown.picture('phone');
    const findings = await shown.findings();
    await expect.poll(() => words('user'), SOON).toEqual([first, second]);

    expect(findings).toEqual([]);
    expect((await words('agent')).length).toBeGreaterThan(1);
  });

  test('keys arrive, by button and by keyboard', async () => {
    await phone().getByRole('button', { name: '5', exact: true }).click();
    await page.keyboard.press('0');

    await expect.poll(async () => (await words('user')).at(-1), SOON).toBe('(pressed 5 0)');
  });

  test('it fits a telephone’s screen, and goes dark', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await shown.picture('phone-dark-360');
    const isTooWide = await shown.isTooWide();
    const findings = await shown.findings();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });

    expect(isTooWide).toBe(false);
    expect(findings).toEqual([]);
  });

  test('muting takes the sound away, and the window says so', async () => {
    const isSending = 'window.peers.at(-1).getSenders()[0].track.enabled';

    await button('Mute').click();
    const muted = [await status(), await page.evaluate(isSending)];
    await button('Mute').click();
    const unmuted = [await status(), await page.evaluate(isSending)];

    expect(muted).toEqual(['In the call · muted', false]);
    expect(unmuted).toEqual(['In the call', true]);
  });

  test('Escape asks before it hangs up, and keeps the focus', async () => {
    await button('Mute').focus();
    await page.keyboard.press('Escape');
    await phone().getByRole('alertdialog').waitFor();
    await page.keyboard.press('Escape');
    await phone().getByRole('alertdialog').waitFor({ state: 'detached' });

    expect(await status()).toBe('In the call');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Mute');
  });

  test('hanging up ends the call on the server, and lets the microphone go', async () => {
    await button('Hang up').click();

    await expect.poll(status).toBe('You hung up.');
    const [call] = await server.endedCalls();
    expect(call).toMatchObject({ from: 'browser', status: 'completed', endReason: 'user_hangup' });
    const states = 'window.peers.map(({ connectionState }) => connectionState)';
    expect(await page.evaluate(states)).toEqual(['closed']);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Call again');
  });

  test('the page of the agent shows where the time of each turn went', async () => {
    const bars = page.locator('.pane-test .chart rect');
    await expect.poll(() => bars.count(), SOON).toBeGreaterThan(4);
    await shown.picture('agent-test-call');

    expect(await page.locator('.pane-test .turn-total').first().textContent()).toMatch(/\d ms/);
  });

  test('the call’s own page has the words, and its recording plays', async () => {
    await phone().getByRole('link', { name: 'Open this call' }).click();
    await page.waitForURL(/#\/calls\/call_/);
    const said = async () => {
      const words = await page.locator('.said-user .text').allTextContents();
      // Where there are none, what the page says instead.
      return words.length > 0 ? words : page.locator('main').innerText();
    };
    await expect.poll(said, SOON).toEqual([...SENTENCES.map(({ text }) => text), '(pressed 5 0)']);
    await shown.picture('phone-call');

    await page.locator('audio').evaluate((player) => (player as unknown as Player).play());

    const time = () =>
      page.locator('audio').evaluate((player) => (player as unknown as Player).currentTime);
    await expect.poll(time, SOON).toBeGreaterThan(0.5);
  });

  test('the policy had nothing to forbid', () => {
    expect(shown.complaints).toEqual([]);
  });
});

interface Player {
  readonly currentTime: number;
  readonly play: () => Promise<void>;
}
