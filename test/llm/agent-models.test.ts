/** The language model that an agent names, and what answers where that fails. */
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { UNCOUNTED } from '../../src/lib/metrics/model-metrics.ts';
import { AgentModels, type ModelChoice } from '../../src/llm/agent-models.ts';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelServer,
} from '../../src/llm/language-model.ts';
import { OllamaModel } from '../../src/llm/ollama/ollama-model.ts';
import { OpenAiModel } from '../../src/llm/openai/openai-model.ts';
import { PrefixWarming } from '../../src/llm/prefix-warming.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { collect, requestOf, textOf } from './language-model.contract.ts';
import { startModelServer } from './support/model-server.ts';
import { ollamaWire, openAiWire } from './support/wires.ts';

const AGENT: ModelChoice = { id: 'agent_1', model: 'small' };

/** A server whose models say their names; those in `gone` fail. */
class StubServer implements ModelServer {
  readonly name: string;
  readonly contextTokens = 4096;
  readonly gone: Set<string>;
  readonly asked: string[];
  readonly warmed: string[];
  listed = 0;
  isDown = false;
  readonly #model: string;

  constructor(model: string, shared?: StubServer) {
    this.name = `stub/${model}`;
    this.#model = model;
    this.gone = shared?.gone ?? new Set();
    this.asked = shared?.asked ?? [];
    this.warmed = shared?.warmed ?? [];
  }

  async *stream(): AsyncIterable<ModelEvent> {
    this.asked.push(this.#model);
    if (this.gone.has(this.#model)) throw new LanguageModelError(`no model "${this.#model}"`);
    yield { kind: 'text', text: this.#model };
  }

  async warm(): Promise<boolean> {
    this.warmed.push(this.#model);
    return true;
  }

  async check(): Promise<void> {}

  async modelNames(): Promise<readonly string[]> {
    this.listed += 1;
    if (this.isDown) throw new LanguageModelError('nothing listens there');
    return ['small', 'own', 'small'];
  }

  withModel(name: string): LanguageModel {
    return new StubServer(name, this);
  }
}

function world(more: Partial<ConstructorParameters<typeof AgentModels>[0]> = {}) {
  const clock = new FakeClock();
  const server = new StubServer('own');
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const models = new AgentModels({ own: server, server, clock, log, ...more });
  const answerOf = async (agent = AGENT) =>
    textOf(await collect(models.of(agent).stream(requestOf('Hello.'))));
  return { clock, server, models, lines, answerOf };
}

test('AgentModels gives each agent the model that it names, and the others the own one', async () => {
  const { answerOf } = world();

  const answers = [
    await answerOf(AGENT),
    await answerOf({ id: 'agent_2', model: 'large' }),
    await answerOf({ id: 'agent_3', model: null }),
  ];

  expect(answers).toEqual(['small', 'large', 'own']);
});

test('AgentModels takes the name of the own model for the own model', () => {
  const { models, server } = world();

  expect(models.of({ id: 'agent_1', model: 'own' })).toBe(server);
});

test('AgentModels gives the own model where there is nothing to choose', () => {
  const { models, server } = world({ server: undefined });

  expect(models.of(AGENT)).toBe(server);
});

test('An agent whose model is gone is answered by the own one, with a warning once per agent', async () => {
  const { answerOf, lines, server } = world();
  server.gone.add('small');

  const answers = [
    await answerOf(),
    await answerOf(),
    await answerOf({ ...AGENT, id: 'agent_2' }),
    await answerOf({ ...AGENT, id: 'agent_2' }),
  ];

  expect(answers).toEqual(['own', 'own', 'own', 'own']);
  // It is known to fail from the first answer on.
  expect(server.asked).toEqual(['small', 'own', 'own', 'own', 'own']);
  const warning = { model: 'stub/small', next: 'stub/own', reason: 'no model "small"' };
  expect(lines).toMatchObject([
    { agentId: 'agent_1', ...warning },
    { agentId: 'agent_2', ...warning },
  ]);
});

test('A failed model of one agent does not keep other agents from theirs', async () => {
  const { answerOf, server } = world();
  server.gone.add('small');

  await answerOf();

  expect(await answerOf({ id: 'agent_2', model: 'large' })).toBe('large');
});

test('A model that is back answers its agents again after a probe, and its next failure is told again', async () => {
  const { answerOf, clock, lines, server } = world();
  server.gone.add('small');
  await answerOf();

  server.gone.delete('small');
  await clock.pass(2000);
  const back = await answerOf();
  server.gone.add('small');
  await answerOf();

  expect(back).toBe('small');
  expect(lines).toHaveLength(2);
});

test('A failed model is not probed for agents that do not talk', async () => {
  const { answerOf, clock, server } = world();
  server.gone.add('small');
  await answerOf();

  await clock.pass(600_000);

  // One answer, and the probe for its call.
  expect(server.asked.filter((name) => name === 'small')).toHaveLength(2);
  expect(clock.waiting).toBe(0);
});

test("An agent's model that breaks off in the middle of an answer fails that answer", async () => {
  const broken: LanguageModel = {
    name: 'stub/broken',
    async *stream() {
      yield { kind: 'text', text: 'We ' };
      throw new LanguageModelError('cut off');
    },
    check: async () => undefined,
  };
  const { models } = world({ guarded: () => broken });

  await expect(collect(models.of(AGENT).stream(requestOf('Hello.')))).rejects.toThrow('cut off');
});

test("AgentModels reads prompts into the agent's model, within the limit that all models share", async () => {
  const clock = new FakeClock();
  const warming = new PrefixWarming({ clock, counts: UNCOUNTED });
  const { models, server } = world({ warming });
  const answerEnds = [warming.answerBegins(), warming.answerBegins()];

  const whileBusy = await models.of(AGENT).warm?.(requestOf('Hello.'));
  for (const end of answerEnds) end();
  const whileIdle = await models.of(AGENT).warm?.(requestOf('Hello.'));

  expect([whileBusy, whileIdle]).toEqual([false, true]);
  expect(server.warmed).toEqual(['small']);
});

test('AgentModels reads prompts into no model where that is switched off', async () => {
  const { models, server } = world({ mayWarm: false });

  expect(await models.of(AGENT).warm?.(requestOf('Hello.'))).toBe(false);
  expect(server.warmed).toEqual([]);
});

test('AgentModels lists names once and in order, and keeps the list for 5 s', async () => {
  const { clock, models, server } = world();

  const names = [await models.names(), await models.names()];
  await clock.pass(5001);
  await models.names();
  await models.names({ isFresh: true });

  expect(names).toEqual([
    ['own', 'small'],
    ['own', 'small'],
  ]);
  expect(server.listed).toBe(3);
});

test('AgentModels knows no names while the server does not answer', async () => {
  const { models, server } = world();
  server.isDown = true;

  expect(await models.names()).toBeUndefined();
});

test('AgentModels has no names where there is nothing to choose', async () => {
  const { models } = world({ server: undefined });

  expect([models.isChoosable, await models.names()]).toEqual([false, []]);
});

test.each([
  ['Ollama', ollamaWire, (host: string) => new OllamaModel({ host, model: 'qwen3:4b' })],
  [
    'An OpenAI-compatible server',
    openAiWire,
    (url: string) => new OpenAiModel({ baseUrl: `${url}/v1`, model: 'qwen3:4b', apiKey: 'k' }),
  ],
])('%s is asked for the model that each agent names', async (_name, wire, open) => {
  const server = await startModelServer(wire);
  onTestFinished(() => server.stop());
  const own = open(server.url);
  const models = new AgentModels({ own, server: own, clock: new FakeClock(), log: silentLogger });

  const names = await models.names();
  for (const model of ['small', null, 'large']) {
    await collect(models.of({ id: 'agent_1', model }).stream(requestOf('Hello.')));
  }

  expect(names).toEqual(['qwen3:4b']);
  expect(server.questions.map(({ model }) => model)).toEqual(['small', 'qwen3:4b', 'large']);
});

test('OpenAiModel refuses a list of models that is none', async () => {
  const server = await startModelServer({
    ...openAiWire,
    health: { path: '/v1/models', body: { models: 'many' } },
  });
  onTestFinished(() => server.stop());
  const model = new OpenAiModel({ baseUrl: `${server.url}/v1`, model: 'm' });

  await expect(model.modelNames()).rejects.toThrow('its list of models is none');
});
