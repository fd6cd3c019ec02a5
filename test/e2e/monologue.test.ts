/**
 * A caller who tells a story on a real call: twenty sentences that the tiny recogniser knows, with pauses of 0.3 to 1.2 s.
 * Voice detector, recogniser and endpointing are those that come with Offhook. Other languages, hesitations and lists, which the
 * tiny recogniser does not know: `test/integration/speech/monologues.test.ts`.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Listener } from '../../examples/demo/listener.ts';
import { Phone } from '../../examples/phone/phone.ts';
import { describeWith } from '../support/server/programs.ts';
import { startServer } from '../support/server/server.ts';
import { KNOWN_STORY, speakMonologue } from '../support/speech/monologues.ts';

const QUIET_MS = 600;
const WAIT_MS_MAX = 20_000;

interface Entry {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly timestamp: string;
}

describeWith(['espeak-ng'], 'a caller who takes their time', () => {
  test('is interrupted once in twenty sentences at most, and answered', async () => {
    const { pcm } = await speakMonologue(KNOWN_STORY, 0);
    const environment = { MODELS_DIR: join(tmpdir(), 'no-models-here') };
    const server = await (await startServer({ environment })).ready();
    const phone = new Phone();
    try {
      await server.createAgent({ greeting: 'Hello.' });
      await phone.start();
      const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
      const listener = new Listener(call.line);
      await listener.hasSpoken(0, QUIET_MS, WAIT_MS_MAX);

      const { lastVoicedAtMs } = await call.line.speak(pcm);
      const endedAtMs = Date.now();
      const isAnswered = await listener.hasSpoken(lastVoicedAtMs, QUIET_MS, WAIT_MS_MAX);
      await call.hangUp();

      const [ended] = await server.endedCalls();
      const { body } = await server.api('GET', `/api/calls/${ended?.id}`);
      const [, ...entries] = body.transcript as readonly Entry[];
      const interruptions = entries.filter(
        ({ role, timestamp }) => role === 'agent' && Date.parse(timestamp) < endedAtMs,
      );
      expect(KNOWN_STORY.pieces).toHaveLength(20);
      expect(interruptions.length, JSON.stringify(entries)).toBeLessThanOrEqual(1);
      expect(isAnswered).toBe(true);
    } finally {
      await phone.stop();
      await server.stop();
    }
  });
});
