import { expect, test } from 'vitest';
import { engineState } from '../../src/domain/call/engine-state.ts';

test('engineState says of a stand-in what callers notice, what would replace it, and how', () => {
  const facts = { engine: 'whisper', reason: 'no model in "./models"', isFallback: true };

  const state = engineState({ job: 'stt', ...facts, standIn: 'tiny_model' });

  expect(state).toEqual({
    job: 'stt',
    ...facts,
    state: 'degraded',
    standIn: 'tiny_model',
    limitation: 'Understands a closed set of phrases only',
    replacement: { engine: 'whisper', how: 'Run "npm run models", then restart the server' },
  });
});

test('engineState keeps the replacement that the engine itself knows', () => {
  const replacement = { engine: 'ollama/qwen3:4b', how: 'Pull the model' };
  const facts = { engine: 'scripted/reception', reason: 'no model', isFallback: true };

  const state = engineState({ job: 'llm', ...facts, standIn: 'rule_book', replacement });

  expect(state.replacement).toEqual(replacement);
});

test('engineState of an engine that does the job in full is ready, with no limitation', () => {
  const facts = {
    job: 'llm',
    engine: 'ollama/qwen3:4b',
    reason: 'set',
    isFallback: false,
  } as const;

  expect(engineState(facts)).toMatchObject({
    state: 'ready',
    standIn: null,
    limitation: null,
    replacement: null,
  });
});

test('engineState of a stand-in that an operator chose is degraded, and says its limitation', () => {
  const facts = { engine: 'scripted/x', reason: 'LLM=scripted was set', isFallback: false };

  expect(engineState({ job: 'llm', ...facts, standIn: 'rule_book' })).toMatchObject({
    state: 'degraded',
    limitation: "Ignores an agent's instructions: fixed rules answer",
    replacement: null,
  });
});

test('engineState is failed while nothing does the job', () => {
  const facts = {
    job: 'llm',
    engine: 'ollama/x',
    reason: 'nothing listens',
    isFallback: false,
  } as const;

  expect(engineState(facts, true).state).toBe('failed');
});
