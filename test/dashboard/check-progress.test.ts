/** What the page of a trunk makes of a check's stream. */
import { expect, test } from 'vitest';
import {
  afterCheckEvent,
  NOTHING_CHECKED,
  shownSteps,
  stepsFound,
} from '../../src/dashboard/trunks/wizard-steps.ts';

const STEPS = [
  { step: 'dns', state: 'ok', message: '"sip.example.com" is at 192.0.2.1, port 5060' },
  { step: 'options', state: 'running', message: null },
  { step: 'clock', state: 'waiting', message: null },
] as const;

const progress = { event: 'progress', data: JSON.stringify({ steps: STEPS }) };

test('afterCheckEvent keeps the newest steps, then the result', () => {
  const found = { ok: false, steps: [{ step: 'dns', ok: false, message: 'no address' }] };

  const during = afterCheckEvent(NOTHING_CHECKED, progress);
  const over = afterCheckEvent(during, { event: 'check', data: JSON.stringify(found) });

  expect(during).toEqual({ steps: STEPS, check: undefined, failure: undefined });
  expect(over).toEqual({ steps: STEPS, check: found, failure: undefined });
});

test('afterCheckEvent keeps why the server could not go on', () => {
  const error = { code: 'INTERNAL_ERROR', message: 'the server failed', status: 500 };
  const data = JSON.stringify({ error: { ...error, requestId: 'req_1' } });

  const { failure } = afterCheckEvent(NOTHING_CHECKED, { event: 'failed', data });

  expect(failure).toMatchObject({ ...error, requestId: 'req_1' });
});

test('afterCheckEvent passes over events that it does not know', () => {
  const state = afterCheckEvent(NOTHING_CHECKED, progress);

  expect(afterCheckEvent(state, { event: 'later', data: 'no JSON' })).toBe(state);
});

test('shownSteps leaves out what has not begun, and shows no step as running once the check is over', () => {
  const states = (isRunning: boolean) =>
    shownSteps(STEPS, isRunning).map(({ step, state }) => [step, state]);

  expect(states(true)).toEqual([
    ['dns', 'ok'],
    ['options', 'running'],
  ]);
  expect(states(false)).toEqual([
    ['dns', 'ok'],
    ['options', 'unchecked'],
  ]);
});

test('stepsFound shows the steps of a result', () => {
  const steps = [
    { step: 'dns', ok: true, message: 'found' },
    { step: 'options', ok: false, message: 'silent' },
  ];

  expect(stepsFound(steps).map(({ state, message }) => [state, message])).toEqual([
    ['ok', 'found'],
    ['failed', 'silent'],
  ]);
});
