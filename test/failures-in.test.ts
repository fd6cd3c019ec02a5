import { expect, test } from 'vitest';
import { failuresIn, type TestReport } from './failures-in.ts';

const passed = { fullName: 'a call rings', status: 'passed', failureMessages: [] };

const file = (name: string, more: Partial<TestReport['testResults'][number]>) => ({
  name: `/project/test/${name}`,
  status: 'failed',
  message: '',
  assertionResults: [passed],
  ...more,
});

test('failuresIn names each failed test with its file and the first lines of why', () => {
  const why = 'AssertionError: expected 1 to be 2\n\n- Expected\n+ Received\n- 2\n+ 1\n    at x';
  const failed = { fullName: 'a call ends', status: 'failed', failureMessages: [why] };

  const report = { testResults: [file('call.test.ts', { assertionResults: [passed, failed] })] };

  expect(failuresIn(report, '/project')).toEqual([
    'test/call.test.ts: a call ends\n  AssertionError: expected 1 to be 2\n  - Expected\n  + Received\n  - 2',
  ]);
});

test('failuresIn counts a file that did not load, and none that passed', () => {
  const testResults = [
    file('wall.test.ts', { status: 'passed' }),
    file('roof.test.ts', { assertionResults: [], message: 'SyntaxError: no such thing' }),
  ];

  expect(failuresIn({ testResults }, '/project')).toEqual([
    'test/roof.test.ts\n  SyntaxError: no such thing',
  ]);
});

test('failuresIn takes a failed test that gives no reason', () => {
  const failed = { fullName: 'a call ends', status: 'failed', failureMessages: null };

  expect(
    failuresIn({ testResults: [file('d.ts', { assertionResults: [failed] })] }, '/project'),
  ).toEqual(['test/d.ts: a call ends']);
});
