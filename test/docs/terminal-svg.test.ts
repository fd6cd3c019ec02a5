import { Parser } from 'htmlparser2';
import { expect, test } from 'vitest';
import { terminalSvg } from '../../docs/tools/terminal-svg.ts';

const LINES = [
  { text: '$ npm run demo', atMs: 0 },
  { text: 'caller  <b> & "c"', atMs: 500 },
  { text: 'x'.repeat(150), atMs: 1000 },
];

function rowsOf(svg: string) {
  const rows: { kind: string; text: string }[] = [];
  const parser = new Parser(
    {
      onopentag: (name, { class: kind = '' }) => {
        if (name === 'text') rows.push({ kind, text: '' });
      },
      ontext: (text) => {
        const row = rows.at(-1);
        if (row !== undefined) row.text += text;
      },
    },
    { xmlMode: true },
  );
  parser.end(svg);
  return rows.map(({ kind, text }) => ({ kind, text: text.trim() }));
}

test('terminalSvg has each line as it was printed, wrapped, in the colour of who speaks', () => {
  expect(rowsOf(terminalSvg('A recording', LINES, 1))).toEqual([
    { kind: 'prompt t0', text: '$ npm run demo' },
    { kind: 'caller t50', text: 'caller  <b> & "c"' },
    { kind: 'note t100', text: 'x'.repeat(104) },
    { kind: 'note t100', text: 'x'.repeat(46) },
  ]);
});

test('terminalSvg shows a line at its time, as much faster as asked, and then rests', () => {
  const svg = terminalSvg('A recording', LINES, 2);

  // Half of 500 ms of playing and 8 s of rest, in percent.
  expect(svg).toContain('@keyframes k50{0%{opacity:0}2.94%{opacity:0}');
  expect(svg).toContain('animation-duration:8.5s');
  expect(svg).toContain('prefers-reduced-motion:reduce');
});
