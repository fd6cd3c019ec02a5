import { expect, test } from 'vitest';
import {
  type Admission,
  admits,
  type Loads,
  lookedAt,
  OPEN,
} from '../../src/call/admission/admission-watch.ts';

const loads = (event_loop: number, others: Partial<Loads> = {}): Loads => ({
  event_loop,
  worker_thread: 0,
  recogniser: 0,
  memory: 0,
  ...others,
});

/** What is held after looks at these loads of the event loop, one a second. */
function after(...seconds: readonly number[]): Admission {
  return seconds.reduce((admission, load) => lookedAt(admission, loads(load)), OPEN);
}

test.each([
  ['a calm machine', [0.1, 0.2], null],
  ['one busy second', [1.2], null],
  ['busy seconds with a calm one between them', [1.2, 0.5, 1.2], null],
  ['two busy seconds, such as those in which many calls begin', [1.2, 1.1], null],
  ['three busy seconds', [1.2, 1.1, 1.1], 'event_loop'],
  ['one second of standing still', [6], 'event_loop'],
  ['a calm that is too short', [1.2, 1.2, 1.2, 0.1, 0.1, 0.1, 0.1], 'event_loop'],
  ['a calm that lasts', [1.2, 1.2, 1.2, 0.1, 0.1, 0.1, 0.1, 0.1], null],
  ['a load just below the limit', [1.2, 1.2, 1.2, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9], 'event_loop'],
  ['a calm that was broken', [1.2, 1.2, 1.2, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.1], 'event_loop'],
])('lookedAt: after %s', (_case, seconds, shortage) => {
  expect(after(...seconds).shortage).toBe(shortage);
});

test.each([
  ['that has fallen a little', 0.94, null],
  ['just below its limit', 0.97, 'memory'],
])('lookedAt: with memory %s, which is seldom given back', (_case, memory, shortage) => {
  const full = loads(0.1, { memory: 1.01 });
  const short = [1, 2, 3].reduce((held) => lookedAt(held, full), OPEN);

  const later = [1, 2, 3, 4, 5].reduce((held) => lookedAt(held, loads(0.1, { memory })), short);

  expect(later.shortage).toBe(shortage);
});

test('lookedAt names what there is least of, and keeps to it until something else is short', () => {
  const slow = loads(1.5, { recogniser: 3 });
  const first = [1, 2, 3].reduce((held) => lookedAt(held, slow), OPEN);
  const calmer = lookedAt(first, loads(0.2, { recogniser: 0.9 }));
  const other = lookedAt(calmer, loads(0.2, { memory: 1.01 }));

  expect([first, calmer, other].map(({ shortage }) => shortage)).toEqual([
    'recogniser',
    'recogniser',
    'memory',
  ]);
});

test.each([
  ['the first call while there is room', null, 0, true],
  ['any call while there is room', null, 199, true],
  ['the first call on an overloaded machine', 'event_loop', 0, true],
] as const)('admits %s', (_case, shortage, inProgress, expected) => {
  expect(admits({ shortage, against: 0 }, inProgress)).toBe(expected);
});

test('admits no second call on an overloaded machine', () => {
  expect(admits({ shortage: 'memory', against: 0 }, 1)).toBe(false);
});
