/** Which engine agents choose a model of, by the setting LLM. */
import { expect, onTestFinished, test } from 'vitest';
import { composeModel } from '../../src/compose/llm.ts';
import { readConfig } from '../../src/config/config.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { UNCOUNTED } from '../../src/lib/metrics/model-metrics.ts';
import { startModelServer } from '../llm/support/model-server.ts';
import { ollamaWire } from '../llm/support/wires.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const UNTIMED = { answered: () => undefined, failed: () => undefined };

async function open(environment: Readonly<Record<string, string>>) {
  const parts = { clock: new FakeClock(), log: silentLogger, times: UNTIMED, counts: UNCOUNTED };
  const composed = await composeModel({ config: readConfig(environment), ...parts });
  onTestFinished(() => composed.model.stop());
  return composed.agentModels;
}

test.each([
  ['ollama,scripted', true],
  ['openai,ollama', true],
  ['scripted,ollama', false],
  ['scripted', false],
])('with LLM=%s agents may choose a model: %s', async (LLM, isChoosable) => {
  const models = await open({ LLM, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'm' });

  expect(models.isChoosable).toBe(isChoosable);
});

test('composeModel lists the models of the server in the settings, and an agent gets another of them', async () => {
  const server = await startModelServer(ollamaWire);
  onTestFinished(() => server.stop());

  const models = await open({ LLM: 'ollama', OLLAMA_HOST: server.url, OLLAMA_MODEL: 'own' });

  expect(await models.names()).toEqual(['qwen3:4b']);
  expect(models.of({ id: 'agent_1', model: 'qwen3:4b' }).name).toBe('ollama/qwen3:4b');
  expect(models.of({ id: 'agent_1', model: null }).name).toBe('ollama/own');
});
