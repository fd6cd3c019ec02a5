/** Speech servers: which one is asked, when a failed one is used again, and what their answers mean. */
import { expect, test } from 'vitest';
import { type SpeechServer, SpeechServers } from '../../src/speech/network/speech-servers.ts';
import { recognitionOf } from '../../src/speech/stt/network/recognition-server.ts';
import { unspokenPart } from '../../src/speech/tts/network/network-synthesizer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function openServers() {
  const clock = new FakeClock();
  const faults = new Map<string, string>();
  const server = (address: string): SpeechServer => ({
    address,
    probe: async () => {
      const fault = faults.get(address);
      if (fault !== undefined) throw new Error(fault);
    },
  });
  const servers = new SpeechServers({ servers: [server('one'), server('two')], clock });
  return { clock, faults, servers };
}

test('SpeechServers lends the server with the fewest requests, and takes turns among equals', async () => {
  const { servers } = openServers();
  await servers.start();

  const leases = [servers.lend(), servers.lend(), servers.lend()];
  leases[1]?.answered(5);
  const next = servers.lend();

  expect(leases.map((lease) => lease?.server.address)).toEqual(['one', 'two', 'one']);
  expect(next?.server.address).toBe('two');
});

test('SpeechServers takes a failed server out until a probe succeeds, and waits longer after each fault', async () => {
  const { clock, faults, servers } = openServers();
  await servers.start();
  faults.set('one', 'nothing listens there');
  servers.lend()?.failed('it answered 500');

  const others = [servers.lend(), servers.lend()].map((lease) => lease?.server.address);
  await clock.pass(1000);
  const still = servers.states()[0];
  faults.clear();
  await clock.pass(1999);
  const early = servers.states()[0]?.isUp;
  await clock.pass(1);
  await clock.pass(0);

  expect(others).toEqual(['two', 'two']);
  expect(still).toEqual({ address: 'one', isUp: false, fault: 'nothing listens there' });
  expect([early, servers.states()[0]?.isUp]).toEqual([false, true]);
});

test('SpeechServers.lend gives nothing where every server has failed', async () => {
  const { faults, servers } = openServers();
  faults.set('one', 'gone').set('two', 'gone');
  await servers.start();

  expect(servers.lend()).toBeNull();
});

const ASKED = { language: 'en', audioMs: 1500 };

test('recognitionOf reads words, confidence and silence of verbose_json', () => {
  const segment = { text: ' Good day.', start: 0, end: 1.2, avg_logprob: Math.log(0.8) };
  const answer = {
    text: ' Good day. ',
    language: 'english',
    segments: [{ ...segment, no_speech_prob: 0.1 }],
    words: [
      { word: ' Good', start: 0.1, end: 0.5 },
      { word: 'day.', start: 0.6, end: 1, probability: 0.5 },
    ],
  };

  const recognition = recognitionOf(answer, ASKED);

  expect(recognition).toMatchObject({
    text: 'Good day.',
    language: 'en',
    noSpeechProbability: 0.1,
  });
  expect(recognition.confidence).toBeCloseTo(0.8);
  expect(recognition.words).toEqual([
    { text: 'Good', confidence: recognition.confidence, startMs: 100, endMs: 500 },
    { text: 'day.', confidence: 0.5, startMs: 600, endMs: 1000 },
  ]);
});

test.each([
  ['a bare text', { text: 'Yes.' }, { text: 'Yes.', confidence: 1, noSpeechProbability: 0 }],
  ['no word', { text: '  ' }, { text: '', words: [], noSpeechProbability: 1 }],
  [
    'words that are not all there',
    { text: 'Yes, I do.', words: [{ word: 'Yes', start: 0, end: 1 }] },
    { words: [{ text: 'Yes,' }, { text: 'I' }, { text: 'do.' }] },
  ],
])('recognitionOf reads an answer of %s', (_case, answer, expected) => {
  expect(recognitionOf(answer, ASKED)).toMatchObject(expected);
});

test.each([
  null,
  'text',
  [],
  { text: 5 },
  { text: 'x'.repeat(4001) },
])('recognitionOf refuses %j', (answer) => {
  expect(() => recognitionOf(answer, ASKED)).toThrow('it answered without a transcript');
});

test.each([
  [0, 'One, two three. Four.'],
  [500, 'One, two three. Four.'],
  [1200, 'two three. Four.'],
  [2000, 'Four.'],
  [2600, ''],
])('unspokenPart says again the clause that broke off after %i ms', (heardMs, rest) => {
  expect(unspokenPart('One, two three. Four.', heardMs, 100)).toBe(rest);
});
