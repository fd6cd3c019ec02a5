/** The agent's side of a simulated call: what it answers, with which voice, and what it hears. */
import { expect, test } from 'vitest';
import { SandboxListener, sandboxVoice } from '../../src/call/sandbox/sandbox-listener.ts';
import {
  sandboxRules,
  sandboxToolbox,
  tomorrowAtTen,
} from '../../src/call/sandbox/sandbox-rules.ts';
import { PARTY_SCRIPTS, partyLines } from '../../src/domain/sandbox-scenario.ts';
import { ScaledClock } from '../../src/lib/clock.ts';
import type { ModelEvent } from '../../src/llm/language-model.ts';
import { parseRuleBook } from '../../src/llm/scripted/rule-book.ts';
import { ScriptedModel } from '../../src/llm/scripted/scripted-model.ts';
import type { SpeechRequest } from '../../src/speech/tts/pool/synthesizer.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const PHRASE = { text: 'Hello', voice: 'en-US-JennyNeural', language: 'en-US' };

const toolNamed = (name: string): Tool => ({
  isAfterWords: false,
  description: { name, description: 'Does something.', parameters: { type: 'object' } },
  run: async () => ({ text: 'Done.' }),
});

const OWN_TOOL = toolNamed('order_status');

const tools = () =>
  sandboxToolbox({
    ...{ transferTargets: [], partyNumber: '+12025550199', clock: new FakeClock() },
    callTools: [toolNamed('send_sms'), OWN_TOOL],
  });

async function answerTo(content: string): Promise<ModelEvent[]> {
  const model = new ScriptedModel({ book: parseRuleBook(sandboxRules(new Date(0), [OWN_TOOL])) });
  const { signal } = new AbortController();
  const request = {
    messages: [{ role: 'user', content }],
    tools: tools().descriptions,
    signal,
  } as const;
  return Array.fromAsync(model.stream(request));
}

/** What an answer says, or the tool that it is without words. */
const answerIn = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.kind === 'text' ? event.text : event.call.name)).join('');

test.each(
  Object.values(PARTY_SCRIPTS).flatMap(partyLines),
)('the rule book has an answer of its own to "%s"', async (line) => {
  const words = answerIn(await answerTo(line));

  expect(words).not.toBe('');
  expect(words).not.toBe(sandboxRules(new Date(0)).otherwise.say);
});

test.each([
  ['2026-11-20T00:00:00.000Z', '2026-11-21T10:00:00.000Z'],
  ['2026-11-20T23:59:59.999Z', '2026-11-21T10:00:00.000Z'],
  ['2026-12-31T12:00:00.000Z', '2027-01-01T10:00:00.000Z'],
])('tomorrowAtTen of %s is %s', (now, expected) => {
  expect(tomorrowAtTen(new Date(now)).toISOString()).toBe(expected);
});

test('sandboxToolbox always transfers, books and takes keys, whatever the agent lists', () => {
  expect(tools().descriptions.map(({ name }) => name)).toEqual([
    'transfer_call',
    'book_appointment',
    'collect_digits',
    'send_sms',
    'order_status',
    'end_call',
  ]);
});

test('SandboxListener asks for the words since the utterance began', async () => {
  const clock = new FakeClock(5000);
  const asked: [number, number][] = [];
  const wordsBetween = (fromMs: number, untilMs: number) => {
    asked.push([fromMs, untilMs]);
    return 'good morning';
  };
  const listener = new SandboxListener({ voice: { wordsBetween }, clock });

  listener.onVoice();
  listener.beginUtterance(4000);
  const utterance = await listener.transcribe();
  listener.endUtterance();
  listener.close();

  expect(asked).toEqual([[4000, 5000]]);
  expect(utterance).toMatchObject({ text: 'good morning', confidence: 0.95, audioMs: 1000 });
  expect(utterance.words.map(({ text }) => text)).toEqual(['good', 'morning']);
});

/** A voice whose phrases are ready when the test says so. */
function slowVoice() {
  const prepared: SpeechRequest[] = [];
  const ready = Promise.withResolvers<void>();
  return {
    prepared,
    ready,
    voice: {
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      report: () => ({ job: 'tts', engine: 'slow', reason: 'test', isFallback: false }) as const,
      prepare: (request: SpeechRequest) => {
        prepared.push(request);
        return ready.promise;
      },
      async *speak() {
        yield new Int16Array(160);
      },
    },
  };
}

test('sandboxVoice slows the clock of the call while the engine works', async () => {
  const real = new FakeClock();
  const clock = new ScaledClock({ speed: 10, clock: real });
  const { ready, voice } = slowVoice();

  const chunks = Array.fromAsync(sandboxVoice(voice, clock).speak(PHRASE));
  real.advance(100);
  const workedMs = clock.nowMs();
  ready.resolve();
  await chunks;
  real.advance(100);

  expect(workedMs).toBe(100);
  expect(clock.nowMs()).toBe(1100);
});

test('sandboxVoice lets the engine finish for others when one call has heard enough', async () => {
  const clock = new ScaledClock({ speed: 10, clock: new FakeClock() });
  const { prepared, ready, voice } = slowVoice();
  const stop = new AbortController();

  const request = { ...PHRASE, signal: stop.signal };
  const chunks = Array.fromAsync(sandboxVoice(voice, clock).speak(request));
  stop.abort(new Error('enough'));
  ready.resolve();

  await expect(chunks).rejects.toThrow('enough');
  expect(prepared).toEqual([PHRASE]);
});

test('sandboxVoice lets the clock run again when the engine fails', async () => {
  const real = new FakeClock();
  const clock = new ScaledClock({ speed: 10, clock: real });
  const { ready, voice } = slowVoice();

  const chunks = Array.fromAsync(sandboxVoice(voice, clock).speak(PHRASE));
  ready.reject(new Error('no voice'));
  await expect(chunks).rejects.toThrow('no voice');
  real.advance(10);

  expect(clock.nowMs()).toBe(100);
});
