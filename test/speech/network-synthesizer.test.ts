/** Voices of speech servers: which server speaks, what it offers, and what the local engine says in its place. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { NetworkSynthesizer } from '../../src/speech/tts/network/network-synthesizer.ts';
import {
  type ServerVoice,
  serverVoice,
  type VoiceRequest,
  type VoiceServer,
} from '../../src/speech/tts/network/voice-server.ts';
import { loadVoiceBook } from '../../src/speech/tts/voices/voice-book.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const book = await loadVoiceBook();

const TEXT = 'Good morning.';
const AGENT = { text: TEXT, voice: 'en-US-JennyNeural', language: 'en-US' };

type Sound = (request: VoiceRequest) => AsyncIterable<Int16Array>;

/** A server of the port, whose sound a test chooses. */
class ScriptedServer implements VoiceServer {
  readonly address: string;
  voices: readonly ServerVoice[];
  isWell = true;
  sound: Sound = async function* () {
    yield new Int16Array(8000).fill(1000);
  };
  readonly asked: (string | undefined)[] = [];

  constructor(address: string, names: readonly string[]) {
    this.address = address;
    this.voices = names.map((name) => serverVoice({ name }));
  }

  async probe(): Promise<void> {
    if (!this.isWell) throw new Error('it is ill');
  }

  speak(request: VoiceRequest): AsyncIterable<Int16Array> {
    this.asked.push(request.voice);
    return this.sound(request);
  }
}

async function open(servers: readonly ScriptedServer[], standard?: string) {
  const clock = new FakeClock();
  const local = new ScriptedSynthesizer();
  const synthesizer = new NetworkSynthesizer({
    ...{ engine: 'wyoming', servers, rules: { book, standard }, timeoutMs: 2000 },
    ...{ local, clock, logger: silentLogger },
    counts: { asked: () => undefined, fellBack: () => undefined, isUp: () => undefined },
  });
  await synthesizer.start();
  return { clock, local, synthesizer };
}

async function samplesOf(sound: AsyncIterable<Int16Array>): Promise<number> {
  let samples = 0;
  for await (const pcm of sound) samples += pcm.length;
  return samples;
}

test('NetworkSynthesizer has the whole text said again after sound without an end', async () => {
  const server = new ScriptedServer('one', ['en_US-amy-low']);
  server.sound = async function* () {
    for (;;) yield new Int16Array(8000).fill(1000);
  };
  const { local, synthesizer } = await open([server]);

  const samples = await samplesOf(synthesizer.speak(AGENT));

  const longestMs = 10_000 + 4 * 66 * TEXT.length;
  expect(samples / 8).toBeLessThan(longestMs + 80 * TEXT.length);
  expect(local.asked.map(({ text }) => text)).toEqual([TEXT]);
  expect(synthesizer.report().reason).toContain('its audio does not end');
});

test.each([
  ['a word', 1000, 8000],
  ['a sentence', 60_000, 12_000],
])('NetworkSynthesizer has %s that a server sent as silence said by the local engine', async (_, sent, heard) => {
  const server = new ScriptedServer('one', ['en_US-amy-low']);
  server.sound = async function* () {
    for (let samples = 0; samples < sent; samples += 1000) yield new Int16Array(1000);
  };
  const { local, synthesizer } = await open([server]);

  const samples = await samplesOf(synthesizer.speak(AGENT));

  expect(local.asked.map(({ text }) => text)).toEqual([TEXT]);
  expect(samples - 80 * 8 * TEXT.length).toBeLessThanOrEqual(heard);
  expect(synthesizer.report().reason).toContain('its audio is silent');
});

test('NetworkSynthesizer takes a pause before the first word for no fault', async () => {
  const server = new ScriptedServer('one', ['en_US-amy-low']);
  server.sound = async function* () {
    yield new Int16Array(8000);
    yield new Int16Array(8000).fill(1000);
    yield new Int16Array(16_000);
  };
  const { local, synthesizer } = await open([server]);

  const samples = await samplesOf(synthesizer.speak(AGENT));

  expect([samples, local.asked]).toEqual([32_000, []]);
});

test('NetworkSynthesizer leaves a server whose sound falls 2 s behind the caller, though it never pauses so long', async () => {
  const server = new ScriptedServer('one', ['en_US-amy-low']);
  const { clock, local, synthesizer } = await open([server]);
  server.sound = async function* () {
    for (;;) {
      yield new Int16Array(800).fill(1000);
      await new Promise<void>((resolve) => clock.after(500, resolve));
    }
  };
  const speaking = samplesOf(synthesizer.speak(AGENT));

  while (local.asked.length === 0) await clock.pass(100);
  await speaking;

  expect(local.asked.map(({ text }) => text)).toEqual([TEXT]);
  expect(synthesizer.report().reason).toContain('its audio comes too slowly');
});

test('NetworkSynthesizer asks the server that has an agent’s voice by its name, and then one with a voice like it', async () => {
  const one = new ScriptedServer('one', ['af_bella']);
  const other = new ScriptedServer('other', ['af_heart']);
  const { synthesizer } = await open([one, other]);
  const request = { ...AGENT, voice: 'af_heart' };

  await samplesOf(synthesizer.speak(request));
  await samplesOf(synthesizer.speak(request));
  other.sound = async function* () {
    yield* [];
    throw new Error('gone');
  };
  await samplesOf(synthesizer.speak(request));

  expect(other.asked).toEqual(['af_heart', 'af_heart', 'af_heart']);
  expect(one.asked).toEqual(['af_bella']);
});

test.each([
  ['af_bella', 'en-US-AriaNeural'],
  ['bm_george', 'en-GB-RyanNeural'],
  ['de_DE-thorsten-low', 'de-DE-AmalaNeural'],
  ['no-such-voice', 'no-such-voice'],
])('NetworkSynthesizer has the local engine speak for %s as %s', async (name, expected) => {
  const server = new ScriptedServer('one', [name]);
  server.isWell = false;
  const { local, synthesizer } = await open([server]);

  await samplesOf(synthesizer.speak({ ...AGENT, voice: name }));

  expect(local.asked[0]?.voice).toBe(expected);
});

test('NetworkSynthesizer offers each voice once, the standard voice included, and says when the local engine stands in', async () => {
  const [one, other] = [
    new ScriptedServer('one', ['af_heart']),
    new ScriptedServer('two', ['af_heart', 'alba']),
  ];
  const { synthesizer } = await open([one, other], 'nova');
  const ill = new ScriptedServer('ill', ['af_heart']);
  ill.isWell = false;
  const { synthesizer: fallen } = await open([ill]);

  expect(
    synthesizer
      .offeredVoices()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['af_heart', 'alba', 'nova']);
  expect(synthesizer.reportFor({ voice: 'alba', language: 'en-US' })).toMatchObject({
    ...{ engine: 'wyoming', isFallback: false },
  });
  expect(fallen.offeredVoices()).toHaveLength(1);
  expect(fallen.reportFor({ voice: 'af_heart', language: 'en-US' })).toMatchObject({
    ...{ engine: 'scripted', isFallback: true },
  });
});

test('NetworkSynthesizer chooses a speaker of a voice for agents that name it, and for no others', async () => {
  const server = new ScriptedServer('one', []);
  server.voices = [
    ...['p1', 'p2', 'p3'].map((speaker) => ({
      name: `libri:${speaker}`,
      locale: 'en-US',
      speaker,
    })),
    { name: 'amy', locale: 'en-US' },
  ];
  const { synthesizer } = await open([server]);

  await samplesOf(synthesizer.speak(AGENT));
  await samplesOf(synthesizer.speak({ ...AGENT, voice: 'libri:p2' }));

  expect(server.asked).toEqual(['amy', 'libri:p2']);
});
