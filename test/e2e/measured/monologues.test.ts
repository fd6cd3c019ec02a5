/**
 * Callers who take their time, on six calls at once: stories, hesitations, lists and numbers in three languages. Voice detector
 * and endpointing are those that come with Offhook; a speech server that knows what is said recognises it.
 */
import { expect, test } from 'vitest';
import { describeWith } from '../../support/server/programs.ts';
import { startServer } from '../../support/server/server.ts';
import { beOnTime } from '../../support/speech/agent-call.ts';
import { NO_MODELS, recordOf, tell } from '../../support/speech/monologue-calls.ts';
import {
  MONOLOGUES,
  type Monologue,
  type SpokenTrack,
  speakMonologue,
} from '../../support/speech/monologues.ts';
import { OpenAiSpeechServer } from '../../support/speech/openai-speech-server.ts';
import { TrackHearing } from '../../support/speech/track-hearing.ts';

/** In twenty breaths. Who breaks off in mid-sentence pauses as others do at its end. */
const INTERRUPTIONS_MAX = { story: 1, 'hesitations and a list': 2 } as const;

describeWith(['espeak-ng'], 'a caller who takes their time', () => {
  test('is hardly interrupted in English, German and Spanish, with hesitations, lists and numbers', async () => {
    const tracks = await Promise.all(
      MONOLOGUES.map((monologue, index) => speakMonologue(monologue, index + 1)),
    );
    const hearing = new TrackHearing(tracks);
    const speech = await OpenAiSpeechServer.start(0, (pcm, language) =>
      hearing.hear(pcm, language),
    );
    const environment = { ...NO_MODELS, STT: 'openai', STT_URL: speech.address };
    const server = await (await startServer({ environment })).ready();
    try {
      await beOnTime();
      const told = await Promise.all(
        MONOLOGUES.map((monologue, index) =>
          tell(server, monologue, tracks[index] as SpokenTrack, index + 1),
        ),
      );

      for (const [index, call] of told.entries()) {
        const { interruptions, entries } = await recordOf(server, call);
        const { language, name, pieces } = MONOLOGUES[index] as Monologue;
        const what = `${language} ${name}: ${JSON.stringify(entries)}`;
        expect.soft(pieces).toHaveLength(20);
        expect.soft(interruptions.length, what).toBeLessThanOrEqual(INTERRUPTIONS_MAX[name]);
        expect.soft(call.isAnswered, what).toBe(true);
      }
    } finally {
      await server.stop();
      await speech.stop();
    }
  });
});
