/** Calls that could not be answered: who is told, and how loudly. */
import { expect, test } from 'vitest';
import { InboundRouter } from '../../src/call/inbound-router.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { CarrierError } from '../../src/telephony/carrier.ts';
import { AGENT_NUMBER, openCallWorld } from './support/call-world.ts';
import { ScriptedIncoming } from './support/scripted-party.ts';

test.each([
  ['a caller who gave up', new CarrierError('gone', 487), [], 'no_answer'],
  ['a caller whose offer is of no use', new CarrierError('no codec', 488), ['warn'], 'error'],
  ['a fault of the last kind that is theirs', new CarrierError('odd', 499), ['warn'], 'error'],
  ['a fault of ours', new CarrierError('no port', 500), ['error'], 'error'],
  ['a mistake of ours', new TypeError('undefined'), ['error'], 'error'],
] as const)('InboundRouter logs %s as what it is', async (_, failure, expected, endReason) => {
  const world = await openCallWorld();
  const logged: string[] = [];
  const log = {
    ...silentLogger,
    warn: () => logged.push('warn'),
    error: () => logged.push('error'),
  };
  const router = new InboundRouter({
    ...{ parts: { ...world.parts, log }, registry: world.registry },
    findAgent: (number) => world.store.agents.findByPhoneNumber(number),
  });
  const incoming = new ScriptedIncoming(AGENT_NUMBER);
  incoming.answer = () => Promise.reject(failure);

  await router.take(incoming);

  expect(logged).toEqual(expected);
  expect(await world.call()).toMatchObject({ endReason });
  expect(world.registry.size).toBe(0);
});
