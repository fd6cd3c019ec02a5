import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openLogger } from '../../src/lib/logger.ts';
import { RecentItems, SERVER_LOG_MAX, ServerLog } from '../../src/lib/server-log.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function watched() {
  const lines: string[] = [];
  const clock = new FakeClock();
  const serverLog = new ServerLog(clock);
  const inner = openLogger('info', { write: (line) => lines.push(line) });
  return { clock, lines, serverLog, log: serverLog.watching(inner) };
}

test('ServerLog keeps warnings and errors, newest first, and passes every line on', () => {
  const { clock, lines, log, serverLog } = watched();

  log.debug({}, 'quiet');
  log.info({}, 'usual');
  log.warn({ requestId: 'req_1' }, 'http: request put off');
  clock.advance(5);
  const err = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
  log.child({ callId: 'call_1' }).error({ err }, 'call ended by the server');

  expect(serverLog.newestFirst()).toEqual([
    {
      at: clock.now(),
      ...{ level: 'error', component: 'server', message: 'call ended by the server' },
      ...{ code: 'ECONNREFUSED', requestId: null },
    },
    {
      at: serverLog.startedAt,
      ...{ level: 'warn', component: 'http', message: 'http: request put off' },
      ...{ code: null, requestId: 'req_1' },
    },
  ]);
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toContain('call_1');
});

test('ServerLog keeps none of the fields that may have numbers, words or secrets', () => {
  const { log, serverLog } = watched();
  const secret = 'svc_live_secret';
  const err = Object.assign(new Error(`Cannot call "+390612345678": ${secret}`), {
    code: 'said hello',
    cause: new Error(secret),
  });

  log.error({ err, why: secret, requestId: '+390612345678', text: 'hello' }, 'call failed');
  log.child({ requestId: secret }).warn({ err: secret }, 'call failed');

  const text = JSON.stringify(serverLog.newestFirst());
  for (const word of [secret, '390612345678', 'hello']) expect(text).not.toContain(word);
});

test('ServerLog keeps a fixed number of entries', () => {
  const { log, serverLog } = watched();

  for (let count = 0; count <= SERVER_LOG_MAX; count += 1) log.warn({}, `warning ${count}`);

  const kept = serverLog.newestFirst();
  expect(kept).toHaveLength(SERVER_LOG_MAX);
  expect(kept.at(0)?.message).toBe(`warning ${SERVER_LOG_MAX}`);
  expect(kept.at(-1)?.message).toBe('warning 1');
});

test.each([
  [[], []],
  [['a'], ['a']],
  [
    ['a', 'b', 'c'],
    ['c', 'b', 'a'],
  ],
  [
    ['a', 'b', 'c', 'd', 'e'],
    ['e', 'd', 'c'],
  ],
])('RecentItems of three keeps of %j: %j', (added, expected) => {
  const recent = new RecentItems<string>(3);

  for (const item of added) recent.add(item);

  expect(recent.newestFirst()).toEqual(expected);
});

/** Arguments of each call of `warn` and `error` on a log, as the source has them. */
function warningsOf(source: string): readonly string[] {
  return [...source.matchAll(/\blog(?:ger)?\.(?:warn|error)\(/gi)].map(({ index, 0: opening }) => {
    const begin = index + opening.length;
    let end = begin;
    for (let depth = 1; depth > 0 && end < source.length; end += 1) {
      if (source[end] === '(') depth += 1;
      if (source[end] === ')') depth -= 1;
    }
    return source.slice(begin, end - 1).trim();
  });
}

test('no message of a warning or an error is put together from values', () => {
  const warnings = globSync('src/**/*.ts').flatMap((file) =>
    warningsOf(readFileSync(file, 'utf8')),
  );

  expect(warnings.length).toBeGreaterThan(50);
  expect(warnings.filter((words) => /(`|\+ ?\w+),?$/.test(words))).toEqual([]);
});
