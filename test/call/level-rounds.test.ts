import { expect, test } from 'vitest';
import type { CallInProgress } from '../../src/call/call-registry.ts';
import { LevelRounds } from '../../src/call/live-calls.ts';
import type { Scope } from '../../src/domain/agent/agent.ts';
import type { CallLevels } from '../../src/domain/call/live-sound.ts';
import { LevelMeter } from '../../src/media/dsp/level-meter.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { ScriptedAudio } from './support/scripted-party.ts';

const LIVE: Scope = { accountId: 'acct_1', environment: 'live' };
const FOREIGN: Scope = { accountId: 'acct_2', environment: 'live' };
const TEST: Scope = { accountId: 'acct_1', environment: 'test' };

/** A call whose loudness is the test's to say. */
function callOf(callId: string, scope = LIVE) {
  const meter = new LevelMeter();
  const audio = Object.assign(new ScriptedAudio(), { meter });
  return { callId, scope, audio, meter, transfer: () => 'not-in-progress' as const };
}

function openRounds(...calls: CallInProgress[]) {
  const clock = new FakeClock();
  const inProgress = [...calls];
  const rounds = new LevelRounds({ clock, inProgress: () => inProgress });
  const told: (readonly CallLevels[])[] = [];
  const watch = (scope = LIVE) => rounds.watch(scope, (levels) => told.push(levels));
  return { clock, inProgress, rounds, told, watch };
}

test('LevelRounds tells the loudest of each side every 250 ms', () => {
  const call = callOf('call_1');
  const { clock, told, watch } = openRounds(call);
  watch();

  call.meter.note('caller', -20);
  clock.advance(249);
  const before = [...told];
  call.meter.note('agent', -6);
  clock.advance(251);

  expect(before).toEqual([]);
  expect(told).toEqual([
    [{ callId: 'call_1', callerDbfs: -20, agentDbfs: -6 }],
    [{ callId: 'call_1', callerDbfs: -90, agentDbfs: -90 }],
  ]);
});

test('LevelRounds measures the calls of those who look, and no others', () => {
  const own = callOf('call_1');
  const others = [callOf('call_2', FOREIGN), callOf('call_3', TEST)];
  const { clock, told, watch } = openRounds(own, ...others);

  watch();
  clock.advance(250);

  expect(own.meter.isOn).toBe(true);
  expect(others.map(({ meter }) => meter.isOn)).toEqual([false, false]);
  expect(told.flat().map(({ callId }) => callId)).toEqual(['call_1']);
});

test('LevelRounds says nothing while no call is in progress', () => {
  const { clock, told, watch } = openRounds();
  watch();

  clock.advance(10_000);

  expect(told).toEqual([]);
});

test('LevelRounds adds a call that is answered while a client watches, and removes one that ends', () => {
  const [first, second] = [callOf('call_1'), callOf('call_2')];
  const { clock, inProgress, told, watch } = openRounds(first);
  watch();

  clock.advance(250);
  inProgress[0] = second;
  clock.advance(500);

  expect(told.map((levels) => levels.map(({ callId }) => callId))).toEqual([
    ['call_1'],
    ['call_2'],
  ]);
  expect([first.meter.isOn, second.meter.isOn]).toEqual([false, true]);
});

test('LevelRounds reports the same levels to all watchers', () => {
  const call = callOf('call_1');
  const { clock, told, watch } = openRounds(call);
  watch();
  watch();

  call.meter.note('caller', -20);
  clock.advance(250);

  expect(told).toHaveLength(2);
  expect(told[0]).toEqual(told[1]);
});

test('LevelRounds rests when the last one has gone, and begins again with the next', () => {
  const call = callOf('call_1');
  const { clock, told, watch } = openRounds(call);
  const stops = [watch(), watch()];

  for (const stop of [...stops, ...stops]) stop();
  clock.advance(1000);
  const isOnUnwatched = call.meter.isOn;
  watch();
  clock.advance(250);

  expect(isOnUnwatched).toBe(false);
  expect(told).toHaveLength(1);
});

test('LevelRounds skips a call without a level meter', () => {
  const mute = { ...callOf('call_1'), audio: new ScriptedAudio() };
  const { clock, told, watch } = openRounds(mute);
  watch();

  clock.advance(1000);

  expect(told).toEqual([]);
});

test('LevelRounds can be closed twice, and then tells nothing', () => {
  const call = callOf('call_1');
  const { clock, rounds, told, watch } = openRounds(call);
  watch();

  rounds.close();
  rounds.close();
  clock.advance(1000);

  expect(told).toEqual([]);
  expect(call.meter.isOn).toBe(false);
});
