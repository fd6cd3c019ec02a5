/** One real call in the dashboard: listened to while it goes on, and looked through when it is over. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Listener } from '../../examples/demo/listener.ts';
import { Phone } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import { phraseSaying } from '../speech/spoken-phrases.ts';
import { type BrowserPage, launchBrowser } from '../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../support/dashboard/dashboard-page.ts';
import {
  barPlaces,
  loudness,
  PLAYBACK_TAP,
  playheadPlace,
  waveInk,
} from '../support/dashboard/sound-in-page.ts';
import { describeWith } from '../support/server/programs.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { firstLoudMs, readStereo } from '../support/speech/recording.ts';

const EVIL = '<img src=x onerror="window.hit=1">';
const NUMBER = '+12025550123';
const ANSWER = 'We are open from nine to five, from Monday to Friday.';

const SCRIPT = {
  name: 'opening hours',
  rules: [{ id: 'anything', when: { any: true }, say: ANSWER }],
  otherwise: { say: ANSWER },
};

/** Until the agent has said what it has to say. */
const QUIET_MS = 600;
const WAIT_MS_MAX = 15_000;

/** What lies between an entry's instant and its first loud sample: the soft beginning of a word, and a few frames. */
const ALIGNED_MS = 250;

/** So much earlier the side is silent, and a sound there would be this entry's. */
const SEARCHED_MS = 900;

/** A machine that is shared is given its time. */
const SOON = { timeout: 10_000 };

describeWith(['chromium'], 'one call in the dashboard', () => {
  const phone = new Phone();
  const folder = mkdtempSync(join(tmpdir(), 'offhook-script-'));
  let server: TestServer;
  let browser: Browser;
  let shown: BrowserPage;
  let page: Page;
  let call: PhoneCall;

  beforeAll(async () => {
    buildDashboard();
    const script = join(folder, 'script.json');
    writeFileSync(script, JSON.stringify(SCRIPT));
    server = await (await startServer({ environment: { SCRIPT_FILE: script } })).ready();
    await server.createAgent({ name: EVIL, phoneNumber: NUMBER });
    await phone.start();
    browser = await launchBrowser();
    shown = await openDashboard(server, browser);
    page = shown.page;
    await page.addInitScript(PLAYBACK_TAP);
  });

  afterAll(async () => {
    await browser?.close();
    await phone.stop();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  const go = async (hash: string) => {
    await page.goto(`${server.baseUrl}/#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const section = (name: string) => page.getByRole('region', { name, exact: true }).first();
  const tab = (name: string) => page.getByRole('tab', { name, exact: true });
  const panel = () => page.getByRole('tabpanel');
  const slider = () => page.getByRole('slider', { name: 'Position in the recording' });
  const atSeconds = async () => Number(await slider().getAttribute('aria-valuenow'));

  test('a call that goes on is heard in the page, once the operator has read of the law', async () => {
    await go('live');
    await page.reload();
    await page.getByText('Connected').waitFor();
    call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`, {
      headers: { Subject: EVIL },
    });
    const listener = new Listener(call.line);
    const card = page.getByRole('article');
    await card.getByText('in progress').waitFor();

    await button('Listen in').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/consent/).waitFor();
    const findings = await shown.findings();
    await shown.picture('listen');
    await dialog.getByRole('button', { name: 'Listen', exact: true }).click();
    await page.getByText('You are listening').waitFor();
    await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);
    const { lastVoicedAtMs } = await call.line.speak(phraseSaying('What are your opening hours?'));
    await expect.poll(async () => (await loudness(page)).caller, SOON).toBeGreaterThan(0.02);
    await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
    const heard = await loudness(page);
    const meter = await card.locator('.meter-agent .meter-fill').getAttribute('style');
    await button('Stop listening').click();

    expect(heard.agent).toBeGreaterThan(0.02);
    expect(meter).toMatch(/scaleX/);
    expect(findings).toEqual([]);
    await expect.poll(() => page.evaluate('window.playbackTap.context.state'), SOON).toBe('closed');
  });

  test('a transfer that comes to nothing is told, and the call goes on', async () => {
    await button('Take over').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your number').fill('+12025550177');
    await dialog.getByRole('button', { name: 'Transfer the call' }).click();

    await page.getByText(/The call was not transferred:/).waitFor();

    expect(await page.getByRole('article').getByText('in progress').count()).toBe(1);
  });

  test('its own page, open when it ends, shows its last messages, looks again for late ones, and leaves rungs open', async () => {
    await page.getByRole('article').getByRole('link').first().click();
    const rungs = panel().locator('.rung');
    await tab('Signalling (SIP)').click();
    await rungs.first().click();

    await call.hangUp();

    await expect.poll(() => rungs.allTextContents(), SOON).toContain('200 OK (BYE)');
    await page.waitForResponse(/\/sip$/);
    expect(await panel().locator('details[open]').count()).toBe(1);
  });

  test('its sound is where its words say, and its outline is drawn, both sides of it', async () => {
    const [ended] = await server.endedCalls();
    const callId = String(ended?.id);
    await slider().waitFor();
    await expect.poll(async () => (await waveInk(page)).agent, SOON).toBeGreaterThan(50);
    const ink = await waveInk(page);
    const { body } = await server.api('GET', `/api/calls/${callId}`);
    const timeline = await server.api('GET', `/api/calls/${callId}/events`);
    const recording = readStereo(join(server.dataDir, 'recordings', `${callId}.wav`));

    const entries = timeline.body.data as readonly { kind: string; timestamp: string }[];
    const answeredMs = Date.parse(entries.find(({ kind }) => kind === 'answered')?.timestamp ?? '');
    const words = body.transcript as readonly { role: string; timestamp: string }[];
    const late = words.map(({ role, timestamp }) => {
      const side = role === 'agent' ? recording?.right : recording?.left;
      const atMs = Date.parse(timestamp) - answeredMs;
      return firstLoudMs(side ?? new Int16Array(), atMs - SEARCHED_MS) - atMs;
    });
    process.stdout.write(`first loud sample after each entry, ms: ${JSON.stringify(late)}\n`);
    expect(words.map(({ role }) => role)).toEqual(expect.arrayContaining(['agent', 'user']));
    expect(Math.max(...late.map(Math.abs))).toBeLessThan(ALIGNED_MS);
    expect(ink.caller).toBeGreaterThan(50);
  });

  test('it plays, by button, by click and by keyboard, and the transcript follows', async () => {
    const current = () => page.locator('.said[aria-current]').textContent();
    await button('Play').click();
    await expect
      .poll(() => page.evaluate('document.querySelector("audio").currentTime'), SOON)
      .toBeGreaterThan(0.1);
    const first = await current();
    await button('Pause').click();
    await page.getByTitle('Play from here').last().click();
    await button('Pause').click();
    const last = await current();

    const { width = 0 } = (await slider().boundingBox()) ?? {};
    const wholeSeconds = Number(await slider().getAttribute('aria-valuemax'));
    await slider().click({ position: { x: width / 2, y: 40 } });
    const middle = await atSeconds();
    await slider().press('Home');
    const start = await atSeconds();
    await slider().press('ArrowRight');
    const step = await atSeconds();
    await slider().press(' ');
    await button('Pause').waitFor();
    await slider().press(' ');
    await button('Play').waitFor();

    expect(first).toContain('Hello, how can I help you?');
    expect(last).toContain(ANSWER);
    expect(Math.abs(middle - wholeSeconds / 2)).toBeLessThanOrEqual(1);
    expect([start, step]).toEqual([0, 5]);
  });

  test('the turns lie on the same line as the sound, near and far', async () => {
    const far = await barPlaces(page);
    await page.getByTitle('Play from here').last().click();
    await button('Pause').click();
    for (let times = 0; times < 3; times += 1) await button('Zoom in').click();
    const near = await barPlaces(page);
    await shown.picture('call-near');

    for (const bars of [far, near]) {
      expect(bars.length).toBeGreaterThan(2);
      expect(Math.min(...bars.map(({ from }) => from))).toBeGreaterThanOrEqual(-0.001);
      expect(Math.max(...bars.map(({ to }) => to))).toBeLessThanOrEqual(1.001);
    }
    // The answer begins where its first packet left, which is where the playhead was put.
    const playhead = await playheadPlace(page);
    expect(Math.abs((near.at(-1)?.to ?? 0) - playhead)).toBeLessThan(0.2);
    await button('Fit').click();
  });

  test('the signalling is a ladder of whole messages, and the quality is told', async () => {
    const titles = await panel().locator('.rung').allTextContents();
    const text = await panel().locator('pre').first().textContent();
    await tab('Signalling (SIP)').press('ArrowLeft');
    const quality = await panel().textContent();

    expect(titles).toEqual(
      expect.arrayContaining(['INVITE', '200 OK (INVITE)', 'ACK', 'BYE', '200 OK (BYE)']),
    );
    expect(titles.indexOf('INVITE')).toBeLessThan(titles.indexOf('ACK'));
    expect(text).toContain(`Subject: ${EVIL}`);
    expect(quality).toMatch(/PCM[UA]/);
    // How good depends on who else uses the machine.
    expect(quality).toMatch(/\d(\.\d)? \((good|fair|poor)\)/);
  });

  test('it takes tags and a note, by which the list finds it', async () => {
    const note = section('Tags and note');
    await note.getByLabel('Tags').fill(`vip, ${EVIL}, vip`);
    await note.getByLabel('Note').fill(EVIL);
    await note.getByRole('button', { name: 'Save tags and note' }).click();
    await page.getByText('Tags and note saved').waitFor();

    const { body } = await server.api('GET', '/api/calls?tag=vip');
    expect(body).toMatchObject({ total: 1, data: [{ tags: [EVIL, 'vip'] }] });
    await page.reload();
    await expect.poll(() => note.getByLabel('Note').inputValue(), SOON).toBe(EVIL);
    expect(await note.getByLabel('Tags').inputValue()).toBe(`${EVIL}, vip`);
  });

  test('it is good to read, light and dark, wide and narrow, in German too', async () => {
    await shown.choose('Light');
    const light = await shown.findings();
    await shown.picture('call-light');
    await shown.choose('Dark');
    const dark = await shown.findings();
    await shown.picture('call-dark');
    await page.setViewportSize({ width: 360, height: 740 });
    await expect.poll(async () => (await waveInk(page)).agent, SOON).toBeGreaterThan(10);
    await shown.picture('call-dark-360');
    const isTooWide = await shown.isTooWide();
    await page.setViewportSize({ width: 1440, height: 900 });
    await shown.choose('Deutsch');
    await page.getByRole('button', { name: 'Abspielen' }).waitFor();
    await page.getByRole('tab', { name: 'Signalisierung (SIP)' }).waitFor();
    await shown.choose('English');

    expect(light).toEqual([]);
    expect(dark).toEqual([]);
    expect(isTooWide).toBe(false);
  });

  test('no user input has run as code, and the policy had nothing to block', async () => {
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(shown.complaints).toEqual([]);
  });
});
