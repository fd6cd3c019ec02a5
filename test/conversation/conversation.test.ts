/** A conversation as a whole, from the greeting to its end, on a fake clock. */
import { expect, test } from 'vitest';
import { calls, says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

test('Conversation greets, listens and answers', async () => {
  const table = layTable();
  table.model.answers = [says('We open at nine. We close at five.')];

  table.conversation.start();
  await table.pass(1000);
  await table.hear('What are your opening hours?', 1500);
  await table.pass(5000);

  expect(table.transcript()).toEqual([
    'agent: Hello.',
    'user: What are your opening hours?',
    'agent: We open at nine. We close at five.',
  ]);
});

test('Conversation answers as soon as the turn is over when the models are quick', async () => {
  const table = layTable({}, { timing: { silenceMsMin: 200, silenceMsMax: 200 } });
  table.ear.tookMs = 40;
  table.synthesizer.tookMs = 10;
  table.model.answers = [says('Nine.')];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('What are your opening hours?', 1500);
  await table.pass(2000);

  expect(table.turns()[0]?.endOfTurnMs).toBe(200);
  // 60 of silence, 40 of recognition, 120 and 10 of the model, 10 of synthesis.
  expect(table.turns()[0]?.firstPacketMs).toBe(240);
  expect(table.conversation.aheadFigures).toEqual({ hits: 1, misses: 0 });
});

test('Conversation runs its stages one after the other when it may not think ahead', async () => {
  const timing = { silenceMsMin: 200, silenceMsMax: 200 };
  const table = layTable({}, { mayThinkAhead: false, timing });
  table.model.answers = [says('Nine o’clock')];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('When do you open?', 600);
  await table.pass(2000);

  // 200 of silence, 80 of recognition, 120 to the first word, 10 a word, 60 of synthesis.
  expect(table.turns()[0]).toMatchObject({
    endOfTurnMs: 200,
    firstTokenMs: 400,
    firstPacketMs: 480,
  });
});

test('Conversation plays the farewell to its end before it hangs up', async () => {
  const table = layTable();
  table.model.answers = [[...says('Goodbye, and thank you.'), calls('end_call')]];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('That is all.', 800);
  await table.pass(1700);
  const endWhilePlaying = table.end();
  await table.pass(2000);

  expect(endWhilePlaying).toBeUndefined();
  expect(table.end()).toEqual({ kind: 'agent-hangup' });
  expect(table.line.played.at(-1)).toMatchObject({ isComplete: true });
});
