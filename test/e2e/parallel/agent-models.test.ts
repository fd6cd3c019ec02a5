/** Agents with language models of their own, on real calls, with a server that speaks Ollama's protocol. */
import { expect, onTestFinished, test } from 'vitest';
import { type ModelQuestion, startManyModels } from '../../support/server/many-models.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { callAgent } from '../../support/server/tool-wait.ts';

const [FIRST, SECOND] = ['+12025550123', '+12025550124'];

/** From the key to the answer's words on record: sooner than the time that a model has for its first word. */
const ANSWER_MS_MAX = 8000;

async function openWorld() {
  const models = await startManyModels(['own:4b', 'small:1b', 'large:8b']);
  const server = await (await startServer({ environment: models.settings })).ready();
  onTestFinished(() => server.stop());
  return { models, server };
}

const agent = (server: TestServer, phoneNumber: string, model: string | null) =>
  server.createAgent({
    phoneNumber,
    model,
    greeting: 'Hello.',
    systemPrompt: `To ${phoneNumber}.`,
  });

/** Names of the models that were asked with the instructions of the agent of a number; `stream` false is reading ahead. */
const askedFor = (number: string, questions: readonly ModelQuestion[]) =>
  questions
    .filter(({ messages }) => messages[0]?.content.includes(`To ${number}.`))
    .map(({ model, stream }) => `${model} ${stream}`);

test('two agents on two calls at the same time are answered by the model that each names', async () => {
  const { models, server } = await openWorld();
  await agent(server, FIRST, 'small:1b');
  await agent(server, SECOND, 'large:8b');
  const one = await callAgent(server, FIRST);
  const other = await callAgent(server, SECOND);

  one.call.line.press('5#');
  other.call.line.press('5#');
  await expect.poll(one.words, { timeout: 15_000 }).toContain('This is small');
  await expect.poll(other.words, { timeout: 15_000 }).toContain('This is large');
  await one.call.hangUp();
  await other.call.hangUp();
  await server.endedCalls();

  const isOf = (model: string) => (asked: string) => asked.startsWith(model);
  expect(askedFor(FIRST, models.questions)).toSatisfy((all: string[]) => all.every(isOf('small')));
  expect(askedFor(SECOND, models.questions)).toSatisfy((all: string[]) => all.every(isOf('large')));
  // Each was read into its model during the greeting, and then asked.
  expect(askedFor(FIRST, models.questions)).toEqual(
    expect.arrayContaining(['small:1b false', 'small:1b true']),
  );
  expect(askedFor(SECOND, models.questions)).toEqual(
    expect.arrayContaining(['large:8b false', 'large:8b true']),
  );
  // The call analysis uses the same models.
  const analysedBy = () => models.questions.filter((question) => 'format' in question);
  await expect
    .poll(() => new Set(analysedBy().map(({ model }) => model)), { timeout: 15_000 })
    .toEqual(new Set(['small:1b', 'large:8b']));
});

test('an agent whose model is gone is answered by the own one in time, and the log says so once', async () => {
  const { models, server } = await openWorld();
  await agent(server, FIRST, 'small:1b');
  models.names.delete('small:1b');
  const { call, words } = await callAgent(server, FIRST);

  const pressedAtMs = performance.now();
  call.line.press('5#');
  await expect.poll(words, { timeout: 15_000 }).toContain('This is own');
  const answeredMs = performance.now() - pressedAtMs;
  call.line.press('6#');
  await expect
    .poll(async () => (await words()).split('This is own').length, { timeout: 15_000 })
    .toBe(3);
  await call.hangUp();

  expect(answeredMs).toBeLessThan(ANSWER_MS_MAX);
  expect(askedFor(FIRST, models.questions)).toEqual(
    expect.arrayContaining(['small:1b true', 'own:4b true']),
  );
  const warnings = server.output
    .split('\n')
    .filter((line) => line.includes('language model of an agent failed'));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('ollama/small:1b');
});

test('a model that the server does not have is refused with those that it has', async () => {
  const { server } = await openWorld();

  const { status, body } = await server.api('POST', '/api/agents', {
    ...{ name: 'Till', greeting: 'Hello', systemPrompt: 'Be brief.', model: 'gpt-9' },
  });

  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('which has: large:8b, own:4b, small:1b');
});
