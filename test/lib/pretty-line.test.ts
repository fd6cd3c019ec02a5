import { expect, test } from 'vitest';
import { openLogger, type Paint, prettyLine } from '../../src/lib/logger.ts';

const plain: Paint = (_style, text) => text;
const marked: Paint = (style, text) => `<${style}>${text}</${style}>`;

const TIME = '2026-11-23T11:23:08.917Z';

function lineOf(fields: object): string {
  return `${JSON.stringify({ level: 'info', time: TIME, ...fields })}\n`;
}

test('prettyLine shows the local time, the level, the message, and the fields behind it', () => {
  const at = new Date(TIME);
  const time = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}:08.917`;

  const text = prettyLine(
    lineOf({
      level: 'warn',
      model: 'ollama/qwen3:4b',
      reason: 'nothing listens',
      list: [1, 'a'],
      msg: 'failed',
    }),
    plain,
  );

  expect(text).toBe(
    `${time} WARN  failed  model=ollama/qwen3:4b reason="nothing listens" list=[1,"a"]\n`,
  );
});

test('prettyLine shows the fields of an object each, and a list of words without JSON', () => {
  const text = prettyLine(
    lineOf({ sockets: { name: 'epoll', isFallback: false }, steps: ['0001', '0002'], msg: 'said' }),
    plain,
  );

  expect(text).toContain('said  sockets.name=epoll sockets.isFallback=false steps=0001,0002');
});

test.each([
  ['info', '<dim>INFO </dim> said'],
  ['warn', '<yellow>WARN </yellow> <yellow>said</yellow>'],
  ['error', '<red>ERROR</red> <red>said</red>'],
])('prettyLine colours the level %s', (level, expected) => {
  expect(prettyLine(lineOf({ level, msg: 'said' }), marked)).toContain(expected);
});

test('prettyLine shows the stack of an error below its line', () => {
  let line = '';
  const log = openLogger('info', { write: (text) => (line = text) });
  log.error({ err: new Error('no room'), callId: 'call_1' }, 'call failed');

  const [first, second, third] = prettyLine(line, plain).split('\n');

  expect(first).toMatch(/ERROR call failed {2}callId=call_1$/);
  expect(second).toBe(`${' '.repeat(19)}Error: no room`);
  expect(third).toMatch(/^ {19} {4}at /);
});

test('prettyLine shows what was thrown and is no error', () => {
  expect(prettyLine(lineOf({ err: 'no reason', msg: 'failed' }), plain)).toContain(
    'err="no reason"',
  );
});

test('prettyLine lets no control character through, wherever it is', () => {
  const evil = '\u001b[2Jx\r\n\u009b1m';
  const fields = {
    name: evil,
    nested: { evil },
    msg: `from ${evil}`,
    err: { stack: `Error: ${evil}` },
  };

  const text = prettyLine(lineOf(fields), plain);

  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(text.split('\n').filter((line) => line !== '')).toHaveLength(3);
});
