import { expect, test } from 'vitest';
import { helpText, readCommandLine } from '../src/cli/server-command-line.ts';
import { printConfig, readConfig } from '../src/config/config.ts';

test.each([
  [[], 'serve'],
  [['--help'], 'help'],
  [['-h'], 'help'],
  [['--version'], 'version'],
  [['--print-config'], 'print-config'],
  [['--prot', '3000'], 'wrong'],
  [['--help', 'me'], 'wrong'],
  [['constructor'], 'wrong'],
  [['start'], 'serve'],
  [['start', '--help'], 'help'],
  [['start', 'doctor'], 'wrong'],
])('readCommandLine(%j) is %s', (words, kind) => {
  expect(readCommandLine(words).kind).toBe(kind);
});

test.each([
  [['doctor', '--json'], 'admin', ['doctor', '--json']],
  [['trunk', 'check', 'acme'], 'admin', ['trunk', 'check', 'acme']],
  [['admin', 'key', 'list'], 'admin', ['key', 'list']],
  [['models', '--list'], 'models', ['--list']],
])('readCommandLine(%j) leads to the program %s with %j', (words, program, own) => {
  expect(readCommandLine(words)).toEqual({ kind: 'program', program, words: own });
});

test('readCommandLine names the word that it does not know', () => {
  expect(readCommandLine(['--port=1'])).toMatchObject({
    problem: expect.stringContaining('"--port=1"'),
  });
});

test('helpText names settings that exist, and no other', () => {
  const known = [...printConfig(readConfig({})).matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  const optional = [
    'PUBLIC_ADDRESS',
    'DATABASE_URL',
    'MEDIA',
    ...['SIP_TLS_CERT', 'SIP_TLS_KEY', 'SIP_TLS_CA'],
    'BOOTSTRAP_LIVE_KEY',
    'BOOTSTRAP_TEST_KEY',
  ];
  const more = ['WEBHOOK_SIGNING_SECRET', 'OPENAI_BASE_URL', 'OPENAI_MODEL', 'OPENAI_API_KEY'];

  const named = helpText()
    .match(/^ {2}[A-Z][A-Z_, ]+$/gm)
    ?.flatMap((line) => line.trim().split(', '));

  const all = [...known, ...optional, ...more, 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  expect(named?.length).toBeGreaterThan(30);
  expect(named?.filter((name) => !all.includes(name))).toEqual([]);
});
