/** What stands between the words of a transcript. */
import { expect, test } from 'vitest';
import { notesOf, transcriptText } from '../../src/dashboard/call/timeline.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 8, 0, seconds)).toISOString();

const WORDS = [
  { role: 'agent', text: 'Hello?', timestamp: at(0) },
  { role: 'user', text: 'Book me in.', timestamp: at(4) },
  { role: 'agent', text: 'Done.', timestamp: at(9) },
] as const;

const entry = (kind: string, seconds: number, details: Readonly<Record<string, unknown>> = {}) => ({
  ...{ kind, details },
  timestamp: at(seconds),
});

test('notesOf puts a time to answer at the agent’s words that begin with it', () => {
  const timeline = [
    entry('turn', 9, { firstPacketMs: 780 }),
    entry('turn', 20, { firstPacketMs: 5 }),
  ];

  const { answersMs } = notesOf(WORDS, timeline);

  expect([...answersMs]).toEqual([[2, 780]]);
});

test('notesOf puts tools and interruptions before the words that follow them, or behind the last', () => {
  const tool = entry('tool', 7, { name: 'book_appointment' });
  const [early, late] = [entry('barge_in', 3), entry('transfer', 30)];

  const { events } = notesOf(WORDS, [early, tool, late]);

  expect([...events]).toEqual([
    [1, [early]],
    [2, [tool]],
    [3, [late]],
  ]);
});

test('notesOf leaves out what has its place elsewhere', () => {
  const { events } = notesOf(WORDS, [entry('ringing', 1), entry('turn', 9), entry('ended', 30)]);

  expect(events.size).toBe(0);
});

test('transcriptText is a line an entry', () => {
  const text = transcriptText(WORDS, (role) => (role === 'agent' ? 'Agent' : 'Caller'));

  expect(text).toBe('Agent: Hello?\nCaller: Book me in.\nAgent: Done.');
});
