/** A conversation that is stopped at any moment leaves nothing behind: no wait, no sound, no word. */
import { expect, test } from 'vitest';
import { calls, says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

/** Into the greeting, the caller's words, the pause, the answer, the tool and the silence after it. */
const MOMENTS_MS = [0, 50, 300, 1200, 1600, 1900, 2050, 2150, 2400, 3000, 3600, 5000, 8000, 20_000];

test.each(MOMENTS_MS)('Conversation.stop after %d ms leaves nothing running', async (momentMs) => {
  const table = layTable();
  table.model.answers = [[calls('book_appointment')], says('I am sorry, I cannot do that.')];
  const talk = async () => {
    table.conversation.start();
    await table.pass(1000);
    await table.hear('A table for tonight, please.', 900);
    await table.pass(20_000);
  };
  const whole = talk();
  await whenPassed(table, momentMs);

  table.conversation.stop();
  const { length } = table.events;
  const asked =
    table.model.requests.length + table.listener.requests + table.synthesizer.spoken.length;
  await whole;
  await table.pass(30_000);

  expect(table.events).toHaveLength(length);
  expect(
    table.model.requests.length + table.listener.requests + table.synthesizer.spoken.length,
  ).toBe(asked);
  expect(table.clock.waiting).toBe(0);
});

async function whenPassed({ clock }: ReturnType<typeof layTable>, byMs: number): Promise<void> {
  const untilMs = clock.nowMs() + byMs;
  while (clock.nowMs() < untilMs) await new Promise((resolve) => setImmediate(resolve));
}
