/**
 * `npm run docs:pictures`: the pictures of the README that show what happened: the demo as a recorded terminal, and the page of its
 * call. Runs a server and Debian's Chromium; made by hand, when what they show has changed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { launchBrowser } from '../../test/support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../test/support/dashboard/dashboard-page.ts';
import { LIVE_KEY, startServer, type TestServer } from '../../test/support/server/server.ts';
import { type RecordedLine, terminalSvg } from './terminal-svg.ts';

const ROOT = join(import.meta.dirname, '../..');
const PICTURES = join(ROOT, 'docs/pictures');
const SHOT_BYTES_MAX = 200_000;

/** A recording of a minute is looked at in a third of it. */
const SPEED = 3;

/** What the demo prints, without the record at the end. */
async function recordDemo(server: TestServer): Promise<readonly RecordedLine[]> {
  const startedMs = performance.now();
  const lines: RecordedLine[] = [{ text: '$ npm run demo', atMs: 0 }];
  const child = spawn(process.execPath, ['examples/demo/demo.ts'], {
    cwd: ROOT,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      PORT: new URL(server.baseUrl).port,
      SIP_PORT: String(server.sipPort),
      DATA_DIR: server.dataDir,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let isRecord = false;
  createInterface({ input: child.stdout }).on('line', (text) => {
    isRecord = isRecord || text === '{';
    const isShown = !isRecord && !/^ *(vad|stt|turn|tts|llm): |^$/.test(text);
    if (isShown) lines.push({ text, atMs: performance.now() - startedMs });
    if (text.startsWith('word error rate'))
      lines.push({ text, atMs: performance.now() - startedMs });
  });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`Cannot record the demo: it ended with ${status}`);
  return lines;
}

/** The page of the newest call. */
async function takeCallPage(server: TestServer): Promise<void> {
  const [call] = await server.endedCalls();
  const browser = await launchBrowser();
  try {
    const { page } = await openDashboard(server, browser);
    await page.setViewportSize({ width: 1180, height: 860 });
    await page.goto(`${server.baseUrl}/#/calls/${call?.id}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('slider').waitFor();
    await page.getByRole('img', { name: /How long each answer took/ }).waitFor();
    // The player knows the length when the recording's peaks have come and its waveform is drawn.
    await page.getByText(/\/ 0:[1-9]\d/).waitFor();
    const path = join(PICTURES, 'call.png');
    await page.screenshot({ path, animations: 'disabled' });
    const { size } = statSync(path);
    if (size > SHOT_BYTES_MAX) throw new Error(`Cannot use call.png: it has ${size} bytes`);
  } finally {
    await browser.close();
  }
}

mkdirSync(PICTURES, { recursive: true });
buildDashboard();
const server = await (await startServer()).ready();
try {
  const lines = await recordDemo(server);
  const title = 'A recording of npm run demo: a caller and the agent talk over SIP and RTP';
  writeFileSync(join(PICTURES, 'demo.svg'), terminalSvg(title, lines, SPEED));
  await takeCallPage(server);
} finally {
  await server.stop();
}
