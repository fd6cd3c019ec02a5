/** baresip with G.722 and with Opus alone, in and out: understood and heard, on hold, with keys. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { openOurRecognizer } from '../../bench/lib/recognizers.ts';
import { speakAll } from '../../examples/demo/voice.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { describeWith } from '../support/server/programs.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { Baresip } from '../support/sip/baresip.ts';

const OURS = '+12025550123';
const NUMBER = '+12025550187';
const GREETING = 'Hello, can you hear me?';
const SENTENCE = 'I would like to book an appointment.';
const VOICE = 'en-US-GuyNeural';
const EVENTUALLY_MS_MAX = 20_000;
const FRAME_SAMPLES = 160;

interface CallRecord {
  readonly id: string;
  readonly status: string;
  readonly transcript: readonly { readonly role: string; readonly text: string }[] | null;
}

interface Quality {
  readonly codec: string;
  readonly local: { readonly packetsReceived: number; readonly packetsLost: number };
}

describeWith(['baresip', 'espeak-ng'], 'baresip with another codec than G.711', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-codecs-'));
  let server: TestServer;
  let agentId: string;
  let baresip: Baresip;

  /** A server whose only trunk is the telephone, and lists the codec after G.711. */
  async function start(codec: 'G722' | 'opus'): Promise<void> {
    baresip = await Baresip.start(NUMBER, { codec });
    const trunk = {
      ...{ name: 'baresip', proxy: `127.0.0.1:${baresip.port}`, numbers: [OURS] },
      ...{ allowedSources: ['127.0.0.1'], optionsIntervalSeconds: 0 },
      codecs: ['PCMU', 'PCMA', codec],
    };
    const trunks = join(folder, 'trunks.json');
    writeFileSync(trunks, JSON.stringify([trunk]));
    const environment = { LOG_LEVEL: 'warn', SIP_TRUNKS: trunks };
    server = await (await startServer({ environment })).ready();
    agentId = await server.createAgent({ greeting: GREETING, phoneNumber: OURS });
  }

  afterEach(async () => {
    await baresip.remove();
    await server.stop();
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function newest(): Promise<CallRecord> {
    const { body } = await server.api('GET', `/api/calls?agentId=${agentId}&limit=1`);
    const [call] = body.data as readonly { readonly id: string }[];
    const { body: record } = await server.api('GET', `/api/calls/${call?.id}`);
    return record as unknown as CallRecord;
  }

  async function newestOnce(isWanted: (call: CallRecord) => boolean): Promise<CallRecord> {
    const deadlineMs = performance.now() + EVENTUALLY_MS_MAX;
    let call = await newest();
    while (!isWanted(call) && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      call = await newest();
    }
    return call;
  }

  const wordsOf = ({ transcript }: CallRecord, role: string) =>
    (transcript ?? []).filter((entry) => entry.role === role).map(({ text }) => text);

  /** Hears the greeting, holds and resumes, says a sentence, presses a key, hangs up. */
  async function talk() {
    const [pcm = new Int16Array()] = await speakAll([SENTENCE], VOICE);
    await newestOnce((call) => wordsOf(call, 'agent').length === 1);
    await baresip.hold();
    await baresip.resume();
    await baresip.speak(pcm);
    await newestOnce((call) => wordsOf(call, 'agent').length === 2);
    await baresip.press('5');
    await newestOnce((call) => wordsOf(call, 'user').length === 2);
    await baresip.hangUp();
    const call = await newestOnce(({ status }) => status === 'completed');
    const { body: quality } = await server.api('GET', `/api/calls/${call.id}/quality`);
    await baresip.stop();
    return { words: wordsOf(call, 'user'), quality: quality as unknown as Quality };
  }

  test.each([
    'G722',
    'opus',
  ] as const)('a call in with %s is understood and heard', async (codec) => {
    await start(codec);

    await baresip.dial(`sip:${OURS}@127.0.0.1:${server.sipPort}`);
    const { words, quality } = await talk();
    const greeting = firstSpeech(baresip.recording());

    expect(words).toEqual([SENTENCE, '(pressed 5)']);
    expect(quality.codec).toBe(codec);
    expect(quality.local.packetsReceived).toBeGreaterThan(150);
    expect(quality.local.packetsLost).toBe(0);
    expect(await recognize(greeting)).toBe(GREETING);
  });

  test.each([
    'G722',
    'opus',
  ] as const)('a call out with %s is understood and heard', async (codec) => {
    await start(codec);

    const placed = await server.api('POST', '/api/calls/outbound', { agentId, to: NUMBER });
    await baresip.answered();
    const { words, quality } = await talk();
    const greeting = firstSpeech(baresip.recording());

    expect(placed.status).toBe(202);
    expect(words).toEqual([SENTENCE, '(pressed 5)']);
    expect(quality.codec).toBe(codec);
    expect(await recognize(greeting)).toBe(GREETING);
  });
});

/** The first stretch of voice that is followed by a second of silence. */
function firstSpeech(pcm: Int16Array): Int16Array {
  const isVoiced = Array.from({ length: Math.floor(pcm.length / FRAME_SAMPLES) }, (_, frame) => {
    const start = frame * FRAME_SAMPLES;
    return levelDbfs(pcm.subarray(start, start + FRAME_SAMPLES)) > -45;
  });
  const first = Math.max(0, isVoiced.indexOf(true));
  const silence = isVoiced.findIndex(
    (_, frame) => frame > first && !isVoiced.slice(frame, frame + 50).includes(true),
  );
  return pcm.slice(
    first * FRAME_SAMPLES,
    (silence < 0 ? isVoiced.length : silence) * FRAME_SAMPLES,
  );
}

/** What our recogniser makes of a stretch of voice, with a little silence around it. */
async function recognize(voice: Int16Array): Promise<string> {
  const pcm = new Int16Array(voice.length + 4800);
  pcm.set(voice, 2400);
  const recognizer = await openOurRecognizer();
  const text = await recognizer.hear(pcm, 'en');
  await recognizer.close();
  return text;
}
