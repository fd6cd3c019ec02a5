import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { type Logger, openLogger } from '../../src/lib/logger.ts';

/** Writes with a log of its own, and reads what came out. */
function written(write: (log: Logger) => void): readonly Record<string, unknown>[] {
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  write(openLogger('info', destination));
  return lines.map((line) => JSON.parse(line));
}

test('Logger writes one object a line, with the level by name and the time', () => {
  const [line] = written((log) => log.info({ status: 200, route: '/api/calls' }, 'answered'));

  expect(line).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    status: 200,
    route: '/api/calls',
    msg: 'answered',
  });
});

test.each([
  ['a field', { text: 'words' }],
  ['a field of a field', { turn: { transcript: 'words' } }],
  ['a field of a field of a field', { call: { leg: { from: 'words' } } }],
  ['a field in a list', { turns: [{ text: 'words' }] }],
  ['a whole object', { metadata: { order: 'words' } }],
  ['a field of an error', { err: Object.assign(new Error('failed'), { secret: 'words' }) }],
])('Logger hides %s that carries words, numbers or secrets', (_case, fields) => {
  const [line] = written((log) => log.info(fields, 'said'));

  expect(JSON.stringify(line)).not.toContain('words');
  expect(JSON.stringify(line)).toContain('[hidden]');
});

test('Logger hides what a child, and a child of a child, carries', () => {
  const [line] = written((log) => {
    const child = log.child({ callId: 'call_1', caller: 'words' });
    child.child({ turn: 1, text: 'words' }).info({}, 'said');
  });

  expect(line).toMatchObject({ callId: 'call_1', caller: '[hidden]', turn: 1, text: '[hidden]' });
});

test('Logger shows an error by type, message, stack and cause', () => {
  const cause = new TypeError('the reason');
  const [line] = written((log) => log.error({ err: new Error('failed', { cause }) }, 'said'));

  expect(line).toMatchObject({
    err: {
      type: 'Error',
      message: 'failed: the reason',
      stack: expect.stringContaining('caused by: TypeError: the reason'),
    },
  });
});

test('Logger shows dates, leaves the fields that it was given as they were, and bears circles', () => {
  const fields = { at: new Date(0), key: 'kept', self: {} };
  fields.self = fields;

  const [line] = written((log) => log.info(fields, 'said'));

  expect(line).toMatchObject({ at: '1970-01-01T00:00:00.000Z', key: '[hidden]' });
  expect(fields.key).toBe('kept');
});

test.each([
  ['that its message has already', 'Cannot save: disk is full', 'Cannot save: disk is full'],
  ['that its message has not', 'Cannot save', 'Cannot save: disk is full'],
])('Logger tells the cause of an error once: one %s', (_case, message, told) => {
  const error = new Error(message, { cause: new Error('disk is full') });

  const [line] = written((log) => log.error({ err: error }, 'failed'));

  const stack = expect.stringMatching(/caused by: Error: disk/);
  expect(line).toMatchObject({ err: { message: told, stack } });
});

test.each(['no reason', null])('Logger writes %s, which was thrown and is no error', (err) => {
  const [line] = written((log) => log.error({ err }, 'failed'));

  expect(line).toMatchObject({ err });
});
