import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  AdmissionWatch,
  AdmittingRegistry,
  type Headroom,
} from '../../src/call/admission/admission-watch.ts';
import { InboundRouter } from '../../src/call/inbound-router.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { AGENT_NUMBER, openCallWorld } from './support/call-world.ts';
import { ScriptedIncoming } from './support/scripted-party.ts';

const IDLE: Headroom = {
  loopLagMs: 1,
  mainBusyShare: 0,
  threadBusyShare: 0,
  recognitionMs: null,
  recognitionAloneMs: null,
  memoryUsedShare: 0.3,
};

/** A watch over a machine whose event loop is as late as the test says. */
function openWatch() {
  const clock = new FakeClock(100_000);
  const machine = { loopLagMs: 1 };
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const watch = new AdmissionWatch({
    measure: () => ({ ...IDLE, ...machine }),
    clock,
    log: { ...silentLogger, warn: note, info: note },
  });
  watch.start();
  return { clock, machine, logged, watch };
}

const call = (callId: string) => ({ callId, hangUp: () => undefined, end: async () => undefined });

test('AdmissionWatch says that calls are refused once, and once that they are taken again', () => {
  const { clock, machine, logged, watch } = openWatch();

  machine.loopLagMs = 300;
  clock.advance(10_000);
  const shortage = watch.shortage;
  machine.loopLagMs = 1;
  clock.advance(10_000);

  expect(shortage).toBe('event_loop');
  expect(watch.shortage).toBeNull();
  expect(logged).toEqual([
    'new calls are refused: those in progress need it all',
    'new calls are taken again',
  ]);
});

test('AdmissionWatch looks no more once it is stopped', () => {
  const { clock, machine, watch } = openWatch();

  watch.stop();
  watch.stop();
  machine.loopLagMs = 5000;
  clock.advance(10_000);

  expect(watch.shortage).toBeNull();
});

test('AdmittingRegistry is full while the machine is short of something, but for the first call', () => {
  const { clock, machine, watch } = openWatch();
  const registry = new AdmittingRegistry({ callsMax: 10, watch });
  machine.loopLagMs = 5000;
  clock.advance(1000);

  const first = { isFull: registry.isFull, free: registry.free };
  registry.add(call('call_1'));
  const second = { isFull: registry.isFull, free: registry.free };

  expect(first).toEqual({ isFull: false, free: 1 });
  expect(second).toEqual({ isFull: true, free: 0 });
});

test('AdmittingRegistry has its number of calls on a machine with room for them', () => {
  const { watch } = openWatch();
  const registry = new AdmittingRegistry({ callsMax: 2, watch });

  registry.add(call('call_1'));
  const one = { isFull: registry.isFull, free: registry.free };
  registry.add(call('call_2'));

  expect(one).toEqual({ isFull: false, free: 1 });
  expect({ isFull: registry.isFull, free: registry.free }).toEqual({ isFull: true, free: 0 });
});

test('AdmittingRegistry wakes who waits for a free line when calls are taken again', async () => {
  const { clock, machine, watch } = openWatch();
  const registry = new AdmittingRegistry({ callsMax: 10, watch });
  let wakes = 0;
  registry.freed.listen(() => {
    wakes += 1;
  });

  machine.loopLagMs = 5000;
  clock.advance(1000);
  machine.loopLagMs = 1;
  clock.advance(5000);
  await setImmediate();

  expect(wakes).toBe(1);
});

test('InboundRouter answers 503 with Retry-After while the machine is short, and tells of it', async () => {
  const { clock, machine, watch } = openWatch();
  const { parts, store } = await openCallWorld();
  const registry = new AdmittingRegistry({ callsMax: 10, watch });
  let refused = 0;
  const router = new InboundRouter({
    parts,
    registry,
    findAgent: (number) => store.agents.findByPhoneNumber(number),
    onFull: () => {
      refused += 1;
    },
  });
  registry.add(call('call_1'));
  machine.loopLagMs = 5000;
  clock.advance(1000);
  const incoming = new ScriptedIncoming(AGENT_NUMBER);

  await router.take(incoming);

  expect(incoming.rejections).toEqual([{ sipStatus: 503, retryAfterSeconds: 30 }]);
  expect(refused).toBe(1);
});

test('AdmittingRegistry tells once that a call is over, and nothing of one that it never had', () => {
  const { watch } = openWatch();
  const gone: string[] = [];
  const registry = new AdmittingRegistry({
    callsMax: 10,
    watch,
    onGone: (callId) => void gone.push(callId),
  });

  registry.add(call('call_1'));
  registry.delete('call_1');
  registry.delete('call_1');
  registry.delete('call_2');

  expect(gone).toEqual(['call_1']);
});
