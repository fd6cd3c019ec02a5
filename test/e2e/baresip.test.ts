import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openOurRecognizer } from '../../bench/lib/recognizers.ts';
import { speakAll } from '../../examples/demo/voice.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { describeWith } from '../support/server/programs.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { Baresip } from '../support/sip/baresip.ts';

/** Words that the tiny recogniser knows, so that it can be asked whether they were audible. */
const GREETING = 'Hello, can you hear me?';
const SENTENCES = ['I would like to book an appointment.', 'What are your opening hours?'];
const VOICE = 'en-US-GuyNeural';
const NOTHING = new Int16Array();
const NUMBER = '+12025550187';
const SAMPLES_PER_MS = 8;
const FRAME_SAMPLES = 160;
/** A second. */
const PAUSE_FRAMES = 50;
const VOICE_DBFS = -45;
const EVENTUALLY_MS_MAX = 15_000;

interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
}

interface CallRecord {
  readonly status: string;
  readonly endReason: string | null;
  readonly from: string;
  readonly transcript: readonly Entry[] | null;
}

describeWith(['baresip', 'espeak-ng'], 'baresip as the caller', () => {
  let server: TestServer;
  let agentId: string;
  let baresip: Baresip;

  beforeAll(async () => {
    server = await (await startServer({ environment: { LOG_LEVEL: 'warn' } })).ready();
    agentId = await server.createAgent({ greeting: GREETING });
  });

  beforeEach(async () => {
    baresip = await Baresip.start(NUMBER);
  });

  afterEach(() => baresip.remove());
  afterAll(() => server.stop());

  const dial = () => baresip.dial(`sip:+12025550123@127.0.0.1:${server.sipPort}`);

  /** The record of the newest call. */
  async function record(): Promise<CallRecord> {
    const { body } = await server.api('GET', `/api/calls?agentId=${agentId}&limit=1`);
    const [newest] = body.data as readonly { readonly id: string }[];
    const { body: call } = await server.api('GET', `/api/calls/${newest?.id}`);
    return call as unknown as CallRecord;
  }

  /** Waits until the record is as wanted, and gives up after a while: what it is then is for `expect`. */
  async function recordOnce(isWanted: (call: CallRecord) => boolean): Promise<CallRecord> {
    const deadlineMs = performance.now() + EVENTUALLY_MS_MAX;
    let call = await record();
    while (!isWanted(call) && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      call = await record();
    }
    return call;
  }

  /** The agent's words are put down when they have been heard. */
  const answers = (count: number) => recordOnce((call) => wordsIn(call, 'agent').length === count);
  const isOver = ({ status }: CallRecord) => status !== 'in_progress' && status !== 'ringing';

  test('hears the greeting, is understood, and its hang-up ends the call', async () => {
    const sentences = await speakAll(SENTENCES, VOICE);

    await dial();
    await answers(1);
    for (const [index, pcm] of sentences.entries()) {
      await baresip.speak(pcm);
      await answers(index + 2);
    }
    await baresip.hangUp();
    const call = await recordOnce(isOver);
    await baresip.stop();
    const greeting = firstSpeech(baresip.recording());

    expect(call).toMatchObject({ from: NUMBER, status: 'completed', endReason: 'user_hangup' });
    expect(wordsIn(call, 'user')).toEqual(SENTENCES);
    expect(greeting.startMs).toBeLessThan(1500);
    expect(greeting.pcm.length / SAMPLES_PER_MS).toBeGreaterThan(800);
    expect(greeting.pcm.length / SAMPLES_PER_MS).toBeLessThan(3000);
    expect(await recognize(greeting.pcm)).toBe(GREETING);
  });

  test('holds the call, resumes it, and is understood and answered as before', async () => {
    const [thanks = NOTHING] = await speakAll(['Thank you very much.'], VOICE);

    await dial();
    await answers(1);
    await baresip.hold();
    const held = await record();
    await baresip.resume();
    await baresip.speak(thanks);
    const answered = await answers(2);
    await baresip.hangUp();
    const call = await recordOnce(isOver);

    expect(held).toMatchObject({ status: 'in_progress' });
    expect(wordsIn(answered, 'user')).toEqual(['Thank you very much.']);
    expect(call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  });

  test('presses keys, and they are in the transcript', async () => {
    await dial();
    await answers(1);
    await baresip.press('5');
    await baresip.press('0');
    await answers(2);
    await baresip.hangUp();
    const call = await recordOnce(isOver);

    expect(wordsIn(call, 'user')).toEqual(['(pressed 5 0)']);
    expect(call).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
  });
});

function wordsIn({ transcript }: CallRecord, role: Entry['role']): string[] {
  return (transcript ?? []).filter((entry) => entry.role === role).map(({ text }) => text);
}

/** The first stretch of voice that is followed by a second of silence, and when it begins. */
function firstSpeech(pcm: Int16Array): { readonly startMs: number; readonly pcm: Int16Array } {
  const isVoiced = Array.from({ length: Math.floor(pcm.length / FRAME_SAMPLES) }, (_, frame) => {
    const start = frame * FRAME_SAMPLES;
    return levelDbfs(pcm.subarray(start, start + FRAME_SAMPLES)) > VOICE_DBFS;
  });
  const first = Math.max(0, isVoiced.indexOf(true));
  const silence = isVoiced.findIndex(
    (_, frame) => frame > first && !isVoiced.slice(frame, frame + PAUSE_FRAMES).includes(true),
  );
  const end = silence < 0 ? isVoiced.length : silence;
  const [from, to] = [first * FRAME_SAMPLES, end * FRAME_SAMPLES];
  return { startMs: from / SAMPLES_PER_MS, pcm: pcm.slice(from, to) };
}

/** What our recogniser makes of a stretch of voice, with a little silence around it. */
async function recognize(voice: Int16Array): Promise<string> {
  const edge = 300 * SAMPLES_PER_MS;
  const pcm = new Int16Array(voice.length + 2 * edge);
  pcm.set(voice, edge);
  const recognizer = await openOurRecognizer();
  const text = await recognizer.hear(pcm, 'en');
  await recognizer.close();
  return text;
}
