/** What `/readyz` says of the language model. */
import { expect, test } from 'vitest';
import { Health } from '../../src/call/admission/health.ts';
import { engineState } from '../../src/domain/call/engine-state.ts';
import { silentLogger } from '../../src/lib/logger.ts';

test('Health tells at once that the last language model has failed a caller, and that it answers again', async () => {
  const model = {
    check: async () => undefined,
    problem: undefined as string | undefined,
    report: () => ({ job: 'llm', engine: 'ollama/m', reason: 'first', isFallback: false }) as const,
  };
  const health = new Health({
    ...{ model, warmModel: async () => undefined, carriers: () => [], checks: () => [] },
    engines: (isFailing) => [engineState(model.report(), isFailing)],
    probeDatabase: async () => undefined,
    disk: { isShort: false, state: 'enough' },
    log: silentLogger,
  });
  const told = async () => {
    const { status, engines } = await health.report(false);
    return [status, engines[0]?.state];
  };

  const before = await told();
  model.problem = 'it answered 500';
  const failing = await told();
  model.problem = undefined;
  const after = await told();

  expect([before, failing, after]).toEqual([
    ['ready', 'ready'],
    ['not_ready', 'failed'],
    ['ready', 'ready'],
  ]);
});
