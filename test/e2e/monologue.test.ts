/**
 * A caller who tells a story on a real call: twenty sentences that the tiny recogniser knows, with pauses of 0.3 to 1.2 s.
 * Voice detector, recogniser and endpointing are those that come with Offhook. Other languages, hesitations and lists, which the
 * tiny recogniser does not know: `test/e2e/measured/monologues.test.ts`.
 */
import { expect, test } from 'vitest';
import { describeWith } from '../support/server/programs.ts';
import { startServer } from '../support/server/server.ts';
import { NO_MODELS, recordOf, tell } from '../support/speech/monologue-calls.ts';
import { KNOWN_STORY, speakMonologue } from '../support/speech/monologues.ts';

describeWith(['espeak-ng'], 'a caller who takes their time', () => {
  test('is interrupted once in twenty sentences at most, and answered', async () => {
    const server = await (await startServer({ environment: NO_MODELS })).ready();
    try {
      const told = await tell(server, KNOWN_STORY, await speakMonologue(KNOWN_STORY, 0), 0);
      const { interruptions, entries } = await recordOf(server, told);

      expect(KNOWN_STORY.pieces).toHaveLength(20);
      expect(interruptions.length, JSON.stringify(entries)).toBeLessThanOrEqual(1);
      expect(told.isAnswered).toBe(true);
    } finally {
      await server.stop();
    }
  });
});
