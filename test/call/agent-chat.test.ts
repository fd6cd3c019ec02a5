/** Trying an agent in writing asks the model what a call would ask, runs nothing, and ends in time. */
import { expect, test } from 'vitest';
import { agentChat } from '../../src/call/sandbox/agent-chat.ts';
import { type Account, KEEP_CALLS } from '../../src/domain/account/account.ts';
import type { Agent } from '../../src/domain/agent/agent.ts';
import type { ChatLine } from '../../src/domain/agent/agent-version.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { UNCOUNTED } from '../../src/lib/metrics/model-metrics.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../../src/llm/language-model.ts';
import { buildAgent } from '../support/store/build-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const ACCOUNT: Account = {
  id: 'acct_1',
  name: 'One',
  plan: 'business',
  minutesIncluded: 1000,
  transferTargets: [],
  allowedCountries: null,
  callingHours: null,
  retention: KEEP_CALLS,
  createdAt: new Date(0),
};

const ASKED: readonly ChatLine[] = [{ role: 'user', text: 'When are you open?' }];

/** Says what it was told to; `silent` waits until it is stopped. */
class TestModel implements LanguageModel {
  readonly name = 'test/one';
  ignoresPrompts = false;
  readonly contextTokens: number | undefined;
  readonly requests: ModelRequest[] = [];
  readonly #events: readonly ModelEvent[] | 'silent' | 'failing';
  /** Runs before each event. */
  onEvent = () => {};
  readonly began = Promise.withResolvers<void>();

  constructor(events: readonly ModelEvent[] | 'silent' | 'failing', contextTokens?: number) {
    this.#events = events;
    this.contextTokens = contextTokens;
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    this.requests.push(request);
    this.began.resolve();
    if (this.#events === 'failing') throw new LanguageModelError('secret words of the server');
    if (this.#events !== 'silent') {
      for (const event of this.#events) {
        this.onEvent();
        yield event;
      }
      return;
    }
    const { signal } = request;
    signal.throwIfAborted();
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  async check(): Promise<void> {}
}

const says = (text: string): ModelEvent => ({ kind: 'text', text });

function chatWith(model: TestModel, fields: Partial<Agent> = {}) {
  const agents: Agent[] = [];
  const clock = new FakeClock(Date.UTC(2026, 10, 20, 12));
  const chat = agentChat({
    modelOf: (agent) => {
      agents.push(agent);
      return model;
    },
    toolsOf: async () => [],
    knowledgeOf: async () => undefined,
    counts: UNCOUNTED,
    clock,
    log: silentLogger,
  });
  const agent = buildAgent(fields);
  const ask = (messages = ASKED, signal = new AbortController().signal) =>
    chat.reply({ agent, account: ACCOUNT, messages, signal });
  return { agent, agents, clock, ask };
}

test('agentChat answers with what the model says, as a voice would say it', async () => {
  const model = new TestModel([says('We are open **from nine** '), says('to five. 😀')]);
  const { ask } = chatWith(model);

  expect(await ask()).toEqual({
    text: 'We are open from nine to five.',
    toolCalls: [],
    model: 'test/one',
    isPromptUsed: true,
    preparedMs: 0,
    firstTokenMs: 0,
    tookMs: 0,
  });
});

test('agentChat asks the model of the agent, once for an answer', async () => {
  const { agent, agents, ask } = chatWith(new TestModel([says('Yes.')]), { model: 'small:1b' });

  await ask();

  expect(agents).toEqual([agent]);
});

test('agentChat tells how long the model took to its first word, and to its last', async () => {
  const model = new TestModel([says('We are open '), says('from nine.')]);
  const { ask, clock } = chatWith(model);
  model.onEvent = () => clock.advance(40);

  expect(await ask()).toMatchObject({ preparedMs: 0, firstTokenMs: 40, tookMs: 80 });
});

test('agentChat asks with the prompt of a call, and the greeting said before', async () => {
  const model = new TestModel([says('Yes.')]);
  const { ask } = chatWith(model, { systemPrompt: 'You sell flowers.', greeting: 'Hello there.' });

  await ask([...ASKED, { role: 'agent', text: 'At nine.' }, { role: 'user', text: 'And\nclose?' }]);

  const [system, ...others] = model.requests[0]?.messages ?? [];
  expect(system?.content).toMatch(/^You sell flowers\.\nYou are speaking on the telephone\./);
  expect(system?.content).toContain('The call began on Fri, 20 Nov 2026 12:00:00 GMT.');
  expect(others).toEqual([
    { role: 'assistant', content: 'Hello there.' },
    { role: 'user', content: 'When are you open?' },
    { role: 'assistant', content: 'At nine.' },
    { role: 'user', content: 'And close?' },
  ]);
});

test('agentChat says no greeting again where the first message is the agent’s', async () => {
  const model = new TestModel([says('Yes.')]);
  const { ask } = chatWith(model);

  await ask([{ role: 'agent', text: 'Hi.' }, ...ASKED]);

  expect(model.requests[0]?.messages[1]).toEqual({ role: 'assistant', content: 'Hi.' });
});

test('agentChat offers the agent’s tools and tells which the model called', async () => {
  const call = { id: '1', name: 'transfer_call', arguments: { target: 'sales' } };
  const model = new TestModel([says('One moment.'), { kind: 'tool-call', call }]);
  const settings = {
    ...buildAgent().settings,
    transferTargets: [{ label: 'sales', number: '+390612345678' }],
  };
  const { ask } = chatWith(model, { tools: ['transfer_call'], settings });

  const reply = await ask();

  expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['transfer_call', 'end_call']);
  expect(reply?.toolCalls).toEqual([{ name: 'transfer_call', arguments: { target: 'sales' } }]);
});

test('agentChat stops a model that goes on and on', async () => {
  let said = 0;
  const endless: Iterable<ModelEvent> = {
    *[Symbol.iterator]() {
      for (;;) {
        said += 1;
        yield says('word '.repeat(100));
      }
    },
  };
  const { ask } = chatWith(new TestModel(endless as readonly ModelEvent[]));

  const reply = await ask();

  expect(reply?.text.length).toBeLessThan(2100);
  expect(said).toBe(4);
});

test('agentChat leaves out the oldest words where the window is too small for all', async () => {
  const model = new TestModel([says('Yes.')], 2500);
  const { ask } = chatWith(model);
  const lines = Array.from({ length: 49 }, (_, index): ChatLine => {
    return { role: index % 2 === 0 ? 'user' : 'agent', text: `${index} ${'word '.repeat(100)}` };
  });

  await ask(lines);

  const messages = model.requests[0]?.messages ?? [];
  expect(messages.length).toBeLessThan(20);
  expect(messages[0]?.role).toBe('system');
  expect(messages.at(-1)?.content).toMatch(/^48 /);
});

test('agentChat answers two at a time, and again when one is done', async () => {
  const model = new TestModel('silent');
  const { ask } = chatWith(model);
  const leave = new AbortController();
  const first = ask(ASKED, leave.signal);
  const second = ask(ASKED, leave.signal);

  expect(await ask()).toBeNull();
  leave.abort();
  await Promise.allSettled([first, second]);

  const third = ask(ASKED, AbortSignal.abort());
  await expect(third).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(model.requests).toHaveLength(3);
});

test('agentChat gives up after 30 s, and stops the model', async () => {
  const model = new TestModel('silent');
  const { ask, clock } = chatWith(model);
  const reply = ask();
  await model.began.promise;

  clock.advance(29_999);
  expect(model.requests[0]?.signal.aborted).toBe(false);
  clock.advance(1);

  await expect(reply).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('took too long'),
  });
  expect(model.requests[0]?.signal.aborted).toBe(true);
});

test('agentChat stops the model when its client aborts', async () => {
  const model = new TestModel('silent');
  const { ask } = chatWith(model);
  const leave = new AbortController();
  const reply = ask(ASKED, leave.signal);
  await model.began.promise;

  leave.abort();

  await expect(reply).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(model.requests[0]?.signal.aborted).toBe(true);
});

test('agentChat tells that the model failed, and not what it said about that', async () => {
  const { ask } = chatWith(new TestModel('failing'));

  await expect(ask()).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Cannot answer as the agent: the language model failed; retry later',
  });
});

test('agentChat says that a rule book does not use the prompt', async () => {
  const model = new TestModel([says('Yes.')]);
  model.ignoresPrompts = true;
  const { ask } = chatWith(model);

  expect(await ask()).toMatchObject({ isPromptUsed: false });
});
