/** A reply that is cut keeps the words that its voice says were heard, however they are written. */
import { expect, test } from 'vitest';
import { ReplyVoice } from '../../src/conversation/reply/reply-voice.ts';
import type { TurnEvent } from '../../src/conversation/turn/turn-event.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { SpeechRequest } from '../../src/speech/tts/pool/synthesizer.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeLine } from './support/fake-line.ts';
import { says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

/** Says at once that the first word takes nearly all the time. */
class Drawling extends ScriptedSynthesizer {
  override speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const words = request.text.split(' ').length;
    request.onWords?.([0.9, ...Array.from({ length: words - 2 }, () => 0.95), 1]);
    return super.speak(request);
  }
}

test('ReplyVoice hands on the pronunciations, and tells when words end', async () => {
  const told: TurnEvent[] = [];
  const synthesizer = new Drawling();
  const pronunciations = [{ written: 'Nguyen', spoken: 'nwin' }];
  const reply = new ReplyVoice({
    ...{ reply: 1, synthesizer, pronunciations, log: silentLogger },
    ...{ voice: 'en-US-JennyNeural', language: 'en-US' },
    audio: new FakeLine(new FakeClock()),
    tell: (event) => told.push(event),
  });

  reply.speak(0, 'a b');
  await new Promise((resolve) => setImmediate(resolve));

  expect(synthesizer.asked[0]?.pronunciations).toBe(pronunciations);
  expect(told[0]).toMatchObject({ kind: 'voiced', clause: 0, wordEnds: [0.9, 1] });
});

test.each([
  ['as long as they are spelt', new ScriptedSynthesizer(480), true],
  ['as long as the voice says', new Drawling(480), false],
])('Conversation takes words to last %s', async (_case, synthesizer, isHeard) => {
  const table = layTable({}, { synthesizer });
  table.model.answers = [
    says('We are open from nine until five from Monday to Friday.'),
    says('Forty dollars.'),
  ];
  table.conversation.start();
  await table.pass(1000);
  await table.hear('What are your opening hours?', 1500);
  await table.pass(2000);

  await table.hear('How much does it cost?', 1200);
  await table.pass(3000);

  const isKept = table.transcript().some((line) => line.startsWith('agent: We are open'));
  expect(isKept).toBe(isHeard);
  expect(table.events).toContainEqual({ kind: 'barge-in' });
});
