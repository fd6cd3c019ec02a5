/** Two hours of talk against a model server, over its real protocol, that counts every prompt. */
import { expect, test } from 'vitest';
import { HistoryKeeper } from '../../src/conversation/history/history-keeper.ts';
import { messagesFor } from '../../src/conversation/history/prompt.ts';
import { phrasesFor } from '../../src/conversation/reply/phrases.ts';
import { DEFAULT_TIMING } from '../../src/conversation/turn/turn-rules.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { UNCOUNTED } from '../../src/lib/metrics/model-metrics.ts';
import { FallbackModel } from '../../src/llm/fallback-model.ts';
import { GuardedModel } from '../../src/llm/guarded-model.ts';
import {
  ANSWER_TOKENS_MAX,
  type ChatMessage,
  type ModelEvent,
  type ModelRequest,
} from '../../src/llm/language-model.ts';
import { OllamaModel } from '../../src/llm/ollama/ollama-model.ts';
import { startModelServer } from '../llm/support/model-server.ts';
import { ollamaWire } from '../llm/support/wires.ts';

const WINDOW_TOKENS = 4096;

/** Twenty seconds each make two hours. */
const TURNS = 360;

/** Harder on the window than the guess of 3.5: as in Greek or Hindi. */
const CHARACTERS_PER_TOKEN = 2.4;

const RULES = {
  brief: {
    greeting: 'Hello.',
    systemPrompt: 'You answer the telephone of a dentist.',
    voice: 'en-US-JennyNeural',
    language: 'en-US',
    isInterruptible: true,
    silenceTimeoutMs: 10_000,
    maxDurationMs: 7_200_000,
  },
  phrases: phrasesFor('en-US'),
  timing: DEFAULT_TIMING,
  maySpeculate: true,
  turnTrust: 0,
  country: 'US',
  isAfterWords: () => false,
  needsSureWords: () => false,
  startedAt: new Date('2026-03-02T09:00:00Z'),
};

/** A model that reports when its stream has ended. */
class WatchedModel extends FallbackModel {
  #answering: Promise<unknown> = Promise.resolve();

  override async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#answering = promise;
    try {
      yield* super.stream(request);
    } finally {
      resolve();
    }
  }

  /** Resolves when the last answer has been streamed and read. */
  async whenFree(): Promise<void> {
    await this.#answering;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a call of two hours stays within the window, and the model’s cache holds for eleven turns out of twelve', async () => {
  const server = await startModelServer(ollamaWire);
  const results: string[] = [];
  server.tokensOf = ({ messages, tools }) =>
    Math.ceil(JSON.stringify([messages, tools]).length / CHARACTERS_PER_TOKEN);
  const log = silentLogger;
  const counts = {
    ...UNCOUNTED,
    historySummarised: (result: string) => results.push(result),
  };
  const ollama = new OllamaModel({ host: server.url, model: 'm', contextTokens: WINDOW_TOKENS });
  const models = [new GuardedModel(ollama)];
  const model = new WatchedModel({ models, clock: systemClock, log, mayWarm: false });
  const tools = { descriptions: [] };
  const keeper = new HistoryKeeper({ model, tools, clock: systemClock, log, counts });
  const history: ChatMessage[] = [{ role: 'assistant', content: 'Hello.' }];
  const asked: (readonly ChatMessage[])[] = [];

  for (let turn = 1; turn <= TURNS; turn += 1) {
    history.push({ role: 'user', content: `And what about tooth number ${turn}, if I may ask?` });
    const request = keeper.fit(messagesFor(RULES, history));
    asked.push(request.messages);
    let answer = '';
    for await (const event of model.stream({ ...request, signal: new AbortController().signal })) {
      if (event.kind === 'text') answer += event.text;
    }
    history.push({ role: 'assistant', content: `${answer} That makes it number ${turn} of many.` });
    keeper.answered();
    // The agent speaks for a while: the summary, where one is due, has its time.
    await model.whenFree();
  }

  keeper.stop();
  await server.stop();
  const longest = Math.max(...server.questions.map(server.tokensOf));
  expect(longest).toBeLessThan(WINDOW_TOKENS - ANSWER_TOKENS_MAX);
  expect(breaksIn(asked)).toBeLessThan(TURNS / 12);
  expect(results.filter((result) => result === 'done').length).toBeGreaterThan(5);
  // Hundreds of real requests take their time on a busy machine.
}, 60_000);

/** How many requests do not go on where the one before ended. */
function breaksIn(requests: readonly (readonly ChatMessage[])[]): number {
  return requests.filter((request, index) => {
    const before = requests[index - 1] ?? [];
    return before.some(({ content }, place) => content !== request[place]?.content);
  }).length;
}
