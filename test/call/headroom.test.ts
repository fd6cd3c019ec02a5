import { expect, test } from 'vitest';
import { callsLeft, type Headroom, loadsOf } from '../../src/call/admission/admission-watch.ts';

const IDLE: Headroom = {
  loopLagMs: 1,
  mainBusyShare: 0.02,
  threadBusyShare: 0.02,
  recognitionMs: null,
  recognitionAloneMs: null,
  memoryUsedShare: 0.3,
};

test('loadsOf is far below 1 on a machine that has nothing to do', () => {
  expect(Math.max(...Object.values(loadsOf(IDLE)))).toBeLessThan(0.5);
});

test.each([
  ['event_loop', { loopLagMs: 160 }],
  ['worker_thread', { threadBusyShare: 0.85 }],
  ['memory', { memoryUsedShare: 0.96 }],
  ['recogniser', { recognitionMs: 1500, recognitionAloneMs: 400 }],
] as const)('loadsOf passes 1 for %s alone when it is short', (shortage, figures) => {
  const loads = loadsOf({ ...IDLE, ...figures });

  const over = Object.entries(loads).filter(([, load]) => load >= 1);
  expect(over.map(([name]) => name)).toEqual([shortage]);
});

test.each([
  ['many times slower than alone, and still quick', 300, 20],
  ['as slow as it always is', 2500, 2000],
])('loadsOf does not blame a recogniser that is %s', (_case, recognitionMs, recognitionAloneMs) => {
  expect(loadsOf({ ...IDLE, recognitionMs, recognitionAloneMs }).recogniser).toBeLessThan(1);
});

test.each([
  ['all that may be, when none is in progress', { mainBusyShare: 0.9 }, 0, 200, 200],
  ['all that may be, when they cost next to nothing', { mainBusyShare: 0.05 }, 10, 190, 190],
  ['as many again at half the limit', { mainBusyShare: 0.4 }, 40, 160, 40],
  ['no more than the number of calls allows', { mainBusyShare: 0.4 }, 150, 50, 50],
  ['what the busier thread allows', { mainBusyShare: 0.2, threadBusyShare: 0.64 }, 80, 120, 20],
  ['none past the limit', { mainBusyShare: 0.95 }, 80, 120, 0],
])('callsLeft: %s', (_case, figures, inProgress, callsFree, expected) => {
  expect(callsLeft({ ...IDLE, ...figures }, { inProgress, callsFree })).toBe(expected);
});
