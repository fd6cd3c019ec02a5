/** What a conversation does when one of its parts fails. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

test('Conversation says that it did not understand when the recogniser fails', async () => {
  const table = layTable();
  table.conversation.start();
  await table.pass(1000);

  table.listener.says = new Error('every child is gone');
  table.line.voice(800);
  await table.pass(5000);

  expect(table.transcript().at(-1)).toBe(
    "agent: Sorry, I didn't get that. Could you say it again?",
  );
});

test('Conversation ends when the voice never speaks', async () => {
  const table = layTable({ silenceTimeoutMs: 2000 });
  table.synthesizer.failure = new Error('no voice');
  table.model.answers = [says('One.'), says('Two.')];

  table.conversation.start();
  await table.pass(1000);
  await table.hear('What are your opening hours?', 800);
  await table.pass(1000);
  await table.hear('What are your opening hours?', 800);
  await table.pass(20_000);

  expect(table.end()).toMatchObject({ kind: 'failed' });
  expect(table.transcript().filter((line) => line.startsWith('agent'))).toEqual([]);
});

test('Conversation ends when no audio comes any more', async () => {
  const table = layTable();
  table.conversation.start();
  await table.pass(1000);

  table.line.emit({ kind: 'media-lost' });

  expect(table.end()).toEqual({
    kind: 'failed',
    reason: 'no audio comes from the far end',
    isSilentLine: true,
  });
});

test('Conversation goes on when the recording cannot be written', async () => {
  const table = layTable();
  table.conversation.start();
  await table.pass(1000);

  table.line.emit({ kind: 'recording-failed', reason: 'disk full', recordedMs: 0 });
  await table.pass(1000);

  expect(table.end()).toBeUndefined();
});

test('Conversation that breaks ends by itself and alone', async () => {
  const ends: unknown[] = [];
  const table = layTable(
    {},
    {
      onEvent: (event) => {
        if (event.kind === 'said') throw new Error('the disk is full');
        if (event.kind === 'ended') ends.push(event.end);
      },
    },
  );

  table.conversation.start();
  await table.pass(2000);

  expect(ends).toEqual([{ kind: 'failed', reason: 'internal error' }]);
  expect(table.clock.waiting).toBe(0);
});

test('Conversation stops a model that it has given up, and logs why it apologised', async () => {
  const warnings: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const table = layTable({}, { log });
  table.model.answers = ['hang'];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('What are your opening hours?', 800);
  await table.pass(25_000);

  expect(table.transcript().at(-1)).toMatch(
    /Please stay on the line\..* Could you say that again\?$/,
  );
  expect(table.model.requests.map(({ signal }) => signal.aborted)).toEqual([true]);
  expect(warnings).toMatchObject([
    { reason: 'the agent gave the answer up, because nothing more came' },
  ]);
});

test('Conversation cuts a model that rambles', async () => {
  const table = layTable();
  table.model.answers = [says('and so on '.repeat(1000))];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Tell me everything.', 800);
  await table.pass(20_000);

  expect(table.synthesizer.spoken.join(' ').length).toBeLessThan(1600);
});

test('Conversation plays on when the recogniser is slow, and gives way to the words when they come', async () => {
  const table = layTable({
    greeting: 'Hello, this is the dental practice of Market Square. Hello?',
  });
  table.model.answers = [says('We open at nine.')];
  table.listener.tookMs = 2500;
  table.conversation.start();
  await table.pass(500);

  await table.hear('What are your opening hours?', 700);
  await table.pass(1500);
  const isPausedStill = !table.line.isPlaying;
  await table.pass(200);
  const hasGoneOn = table.line.isPlaying;
  await table.pass(3000);

  expect([isPausedStill, hasGoneOn]).toEqual([true, true]);
  expect(table.transcript().slice(1)).toEqual([
    'user: What are your opening hours?',
    'agent: We open at nine.',
  ]);
});
