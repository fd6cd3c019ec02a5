/** Answers of speech servers, of any form: what is read of them stays within its bounds, and nothing but a plain fault is thrown. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { HttpStatusError, request } from '../../src/speech/network/speech-http.ts';
import { recognitionOf } from '../../src/speech/stt/network/recognition-server.ts';
import { serverVoice, usableVoices } from '../../src/speech/tts/network/voice-server.ts';
import { openAiVoices } from '../../src/speech/tts/openai/openai-voices.ts';
import { LinePcm } from '../../src/speech/tts/pool/line-pcm.ts';

const ASKED = { language: 'en', audioMs: 2000 };

/** JSON that has the interface's fields, of any type. */
const anything = fc.oneof(fc.jsonValue(), fc.double(), fc.string(), fc.constant(undefined));
const segment = fc.record(
  {
    ...{ text: anything, start: anything, end: anything },
    ...{ avg_logprob: anything, no_speech_prob: anything },
  },
  { requiredKeys: [] },
);
const word = fc.record(
  { word: anything, start: anything, end: anything, probability: anything },
  { requiredKeys: [] },
);
const transcript = fc.record(
  {
    text: fc.oneof(fc.string(), anything),
    language: anything,
    segments: fc.oneof(fc.array(segment), anything),
    words: fc.oneof(fc.array(word), anything),
  },
  { requiredKeys: [] },
);

const isShare = (value: number) => value >= 0 && value <= 1;

test('a transcript of any form is read within its bounds, or refused in plain words', () => {
  fc.assert(
    fc.property(fc.oneof(transcript, anything), (answer) => {
      try {
        const { text, words, confidence, noSpeechProbability } = recognitionOf(answer, ASKED);
        expect(text).toBe(text.trim());
        expect(words.map((one) => one.confidence).every(isShare)).toBe(true);
        expect([confidence, noSpeechProbability].every(isShare)).toBe(true);
      } catch (error) {
        expect(String(error)).toBe('Error: it answered without a transcript');
      }
    }),
    { numRuns: 2000 },
  );
});

test('long lists of a hostile server take no time', () => {
  const words = Array.from({ length: 50_000 }, () => ({ word: 'a', start: 9e9, end: 9e9 }));
  const segments = Array.from({ length: 50_000 }, () => ({ text: 'a', start: 0, end: 1 }));
  const startMs = performance.now();

  const { text } = recognitionOf({ text: 'a', words, segments }, ASKED);

  expect(text).toBe('a');
  expect(performance.now() - startMs).toBeLessThan(1000);
});

/** Bytes that begin as audio files do, or as nothing known. */
const audioBytes = fc
  .tuple(
    fc.constantFrom('', 'RIFF', 'RIFF\0\0\0\0WAVEfmt ', 'ID3', 'OggS', '{"error"', 'data'),
    fc.uint8Array({ maxLength: 6000 }),
  )
  .map(([mark, rest]) => Buffer.concat([Buffer.from(mark, 'latin1'), rest]));

/** The sound, or the fault in plain words. */
function soundOf(pieces: readonly Uint8Array[]): Int16Array | string {
  const pcm = new LinePcm({ rateHz: 24_000, channels: 1 });
  try {
    const sounds = [...pieces.map((piece) => pcm.push(piece)), pcm.flush()];
    return Int16Array.from(sounds.flatMap((sound) => [...sound]));
  } catch (error) {
    return String(error);
  }
}

test('audio of any bytes becomes sound or a plain fault, however it is cut into pieces', () => {
  fc.assert(
    fc.property(audioBytes, fc.integer({ min: 1, max: 700 }), (bytes, size) => {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );

      const whole = soundOf([bytes]);

      expect(soundOf(pieces)).toEqual(whole);
      if (typeof whole === 'string') expect(whole).toMatch(/^Error: it sent /);
    }),
    { numRuns: 1000 },
  );
});

test('a voice of any name has a language of letters, or none', () => {
  const told = fc.record({
    name: fc.string({ maxLength: 200 }),
    language: fc.option(fc.string(), { nil: undefined }),
    gender: fc.option(fc.string(), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(told, { maxLength: 20 }), (list) => {
      const voices = usableVoices(list.map(serverVoice));

      for (const { name, locale } of voices) {
        expect(name.length).toBeLessThanOrEqual(100);
        expect(locale).toMatch(/^([a-z]{2,3}(-[A-Z0-9]{2,3})?)?$/);
      }
    }),
    { numRuns: 1000 },
  );
});

test('samples that look like a bracket are no text', () => {
  const samples = [0x3c, 0x00, 0x7b, 0xff, 0x10, 0x01];

  expect(soundOf([Buffer.from([...samples, ...new Uint8Array(2400)])])).toBeInstanceOf(Int16Array);
});

/** A server that gives the same answer to each GET, and two samples to each POST. */
async function serverOf(status: () => number, body: () => string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const isList = request.method === 'GET';
    response.writeHead(isList ? status() : 200).end(isList ? body() : Buffer.alloc(4));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const listed = fc.oneof(
  fc.string(),
  fc.record(
    { id: anything, voice_id: anything, name: anything, language: anything, gender: anything },
    { requiredKeys: [] },
  ),
  anything,
);
const list = fc.oneof(
  fc.array(listed),
  fc.record({ voices: fc.oneof(fc.array(listed), anything) }),
  anything,
);

test('a list of voices of any form is read within its bounds, or refused in plain words', async () => {
  const answer = { status: 200, body: '' };
  const address = await serverOf(
    () => answer.status,
    () => answer.body,
  );
  const signal = new AbortController().signal;
  const statuses = fc.constantFrom(200, 400, 404, 500);
  await fc.assert(
    fc.asyncProperty(statuses, list, async (status, value) => {
      Object.assign(answer, { status, body: JSON.stringify(value) ?? '' });
      const server = openAiVoices(address, {});
      const fault = await server.probe(signal).then(
        () => '',
        (error: unknown) => String(error),
      );

      const names = server.voices.map(({ name }) => name);
      expect(fault).toMatch(/^(Error: it answered with no JSON)?$/);
      expect(names.every((name) => name !== '' && name.length <= 100)).toBe(true);
      if (status !== 200) expect(names).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('an error of any form becomes one short line', async () => {
  const answer = { body: '' };
  const address = await serverOf(
    () => 500,
    () => answer.body,
  );
  const bodies = fc.oneof(
    fc.string(),
    fc
      .oneof(
        anything,
        fc.record({ error: anything }),
        fc.record({ error: fc.record({ message: anything }) }),
      )
      .map((value) => JSON.stringify(value) ?? ''),
    fc.string({ minLength: 300, maxLength: 3000 }),
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      answer.body = body;

      const error = await request(address, { method: 'GET' }).catch((one: unknown) => one);

      expect(error).toBeInstanceOf(HttpStatusError);
      expect((error as Error).message).toMatch(/^it answered 500(: .{1,200})?$/u);
    }),
    { numRuns: 150 },
  );
});

test('a server’s older list of voices is found as well', async () => {
  const server = createServer((incoming, response) => {
    incoming.resume();
    const isList = incoming.url === '/v1/audio/speech/voices';
    const body = isList
      ? JSON.stringify([{ voice_id: 'af_sky', model_id: 'kokoro' }])
      : Buffer.alloc(4);
    response.writeHead(incoming.method === 'GET' && !isList ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const voices = openAiVoices(`http://127.0.0.1:${port}`, {});

  await voices.probe(new AbortController().signal);

  expect(voices.voices).toEqual([{ name: 'af_sky', locale: 'en-US', gender: 'female' }]);
});
