/** API requests for calls in progress reach the registry that holds the call. */
import { expect, test } from 'vitest';
import { CallRegistry } from '../../src/call/call-registry.ts';
import { openLive } from '../../src/call/live-calls.ts';
import type { CallLevels } from '../../src/domain/call/live-sound.ts';
import { LevelMeter } from '../../src/media/dsp/level-meter.ts';
import { ScriptedAudio } from './support/scripted-party.ts';

const NUMBER = '+390698765432';
const SCOPE = { accountId: 'acct_1', environment: 'test' } as const;

/** A registry with one call, which records the requests to it. */
function holderOf(callId: string) {
  const registry = new CallRegistry({ callsMax: 10 });
  const asked: string[] = [];
  const meter = new LevelMeter();
  const inProgress = {
    callId,
    scope: SCOPE,
    audio: Object.assign(new ScriptedAudio(), { meter }),
    transfer: (number: string) => {
      asked.push(`transfer ${number}`);
      return 'begun' as const;
    },
  };
  const hangUp = () => asked.push('hang-up');
  registry.add({ callId, hangUp, end: async () => undefined, inProgress });
  return { registry, asked, meter };
}

test.each([
  'call_real',
  'call_simulated',
])('openLive asks the registry that holds %s', async (callId) => {
  const [real, sandbox] = [holderOf('call_real'), holderOf('call_simulated')];
  const { liveCalls } = openLive(real.registry, sandbox.registry);

  const start = liveCalls.transfer(callId, NUMBER);
  const isHeld = liveCalls.hangUp(callId);
  await Promise.resolve();

  const [holder, other] = callId === 'call_real' ? [real, sandbox] : [sandbox, real];
  expect([start, isHeld]).toEqual(['begun', true]);
  expect(holder.asked).toEqual([`transfer ${NUMBER}`, 'hang-up']);
  expect(other.asked).toEqual([]);
});

test('openLive finds no call that no registry holds', () => {
  const { liveCalls, liveSound } = openLive(
    holderOf('call_real').registry,
    holderOf('call_simulated').registry,
  );
  const listener = { onSound: () => undefined, onOver: () => undefined };

  expect(liveCalls.transfer('call_none', NUMBER)).toBe('not-in-progress');
  expect(liveCalls.hangUp('call_none')).toBe(false);
  expect(liveSound.listen('call_none', listener)).toEqual({ kind: 'not-in-progress' });
});

test('openLive tells how loud real and simulated calls are, until it is closed', async () => {
  const [real, sandbox] = [holderOf('call_real'), holderOf('call_simulated')];
  const { liveSound } = openLive(real.registry, sandbox.registry);
  const told: (readonly CallLevels[])[] = [];

  liveSound.watchLevels(SCOPE, (levels) => told.push(levels));
  real.meter.note('caller', -20);
  sandbox.meter.note('agent', -30);
  await expect.poll(() => told.length).toBeGreaterThan(0);
  liveSound.close();

  expect(told[0]).toEqual([
    { callId: 'call_real', callerDbfs: -20, agentDbfs: -90 },
    { callId: 'call_simulated', callerDbfs: -90, agentDbfs: -30 },
  ]);
  expect([real.meter.isOn, sandbox.meter.isOn]).toEqual([false, false]);
});
