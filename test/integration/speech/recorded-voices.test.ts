/** Recorded people of Debian's Asterisk packages, and its music on hold, through the voice detector that comes with Offhook. */
import { afterAll, expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../../src/media/dsp/g711.ts';
import type { VoiceEvent } from '../../../src/speech/hearing/hearing.ts';
import { openVoiceDetector } from '../../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../../src/speech/vad/silero/silero-engine.ts';
import { VadTrack } from '../../../src/speech/vad/vad-track.ts';
import { describeWithout } from '../../support/server/programs.ts';
import {
  longPromptsOf,
  missingRecordings,
  musicOnHold,
  RECORDED_PEOPLE,
  type RecordedPerson,
} from '../../support/speech/callees/recorded-people.ts';
import { nonSpeech } from '../../support/speech/non-speech.ts';

const RATE_HZ = 8000;

/** The longest prompts of a person, from 10 to 30 s of speech, almost without a pause. */
const PROMPTS = 10;
const PROMPT_SECONDS_MAX = 30;

/** Level of a caller, in dB below full scale. */
const CALLER_DBFS = -23;

const GREETING_SECONDS = 4;
const AFTER_SECONDS = 2;

function promptsOf(person: RecordedPerson): ReadonlyMap<string, Int16Array> {
  return longPromptsOf(person, { count: PROMPTS, secondsMax: PROMPT_SECONDS_MAX });
}

function rms(pcm: Int16Array | Float64Array): number {
  let sum = 0;
  for (const sample of pcm) sum += sample ** 2;
  return Math.sqrt(sum / pcm.length);
}

/** Six people who talk at once, each of the three twice. */
function talkOfSix(): Float64Array {
  const sum = new Float64Array(20 * RATE_HZ);
  for (const [talker, person] of [...RECORDED_PEOPLE, ...RECORDED_PEOPLE].entries()) {
    let at = -talker * RATE_HZ;
    for (const pcm of [...promptsOf(person).values()].slice(talker)) {
      const gain = 1000 / rms(pcm);
      for (const [index, sample] of pcm.entries()) {
        if (at + index >= 0 && at + index < sum.length) {
          sum[at + index] = (sum[at + index] as number) + gain * sample;
        }
      }
      at += pcm.length;
    }
  }
  return sum;
}

/** Duration of the voice in a line's events, but for talk that was taken back. */
function voicedMs(events: readonly VoiceEvent[]): number {
  let totalMs = 0;
  let startedAtMs: number | null = null;
  for (const event of events) {
    if (event.kind === 'voice-started') startedAtMs = event.atMs;
    if (event.kind === 'background-talk') startedAtMs = null;
    if (event.kind !== 'voice-stopped' || startedAtMs === null) continue;
    totalMs += event.lastVoicedAtMs - startedAtMs;
    startedAtMs = null;
  }
  return totalMs;
}

/** A prompt at a caller's level after a greeting's time of the noise, which goes on under it. */
function lineWith(
  prompt: Int16Array,
  around: Int16Array | Float64Array | null,
  belowDb: number,
): Int16Array {
  const level = 32_768 * 10 ** (CALLER_DBFS / 20);
  const noiseGain = around === null ? 0 : (level / rms(around)) * 10 ** (-belowDb / 20);
  const start = GREETING_SECONDS * RATE_HZ;
  const voiceGain = level / rms(prompt);
  const line = new Int16Array(start + prompt.length + AFTER_SECONDS * RATE_HZ).map((_, at) => {
    const sample =
      voiceGain * (prompt[at - start] ?? 0) + noiseGain * (around?.[at % around.length] ?? 0);
    return Math.max(-32_768, Math.min(32_767, sample));
  });
  return decodeG711('PCMU', encodeG711('PCMU', line));
}

describeWithout(missingRecordings, 'recorded sounds', () => {
  const opened = openVoiceDetector(bundledSilero());

  afterAll(async () => (await opened).close());

  /** Voice events of a line. */
  async function eventsOn(line: Int16Array): Promise<readonly VoiceEvent[]> {
    const detector = await opened;
    const track = new VadTrack(detector);
    track.push(line);
    const events: VoiceEvent[] = [];
    let position = 0;
    for (let window = track.takeWindow(); window !== null; window = track.takeWindow()) {
      const [score = 0] = await detector.score([window]);
      position += 256;
      const event = track.score(score, { position, atMs: position / 8 });
      if (event !== null) events.push(event);
    }
    return events;
  }

  const count = (events: readonly VoiceEvent[], kind: VoiceEvent['kind']) =>
    events.filter((event) => event.kind === kind).length;

  const lines = RECORDED_PEOPLE.flatMap((person) => [
    { person, noise: null, belowDb: 0 },
    { person, noise: 'a car from within', belowDb: 12 },
    { person, noise: 'traffic', belowDb: 8 },
    { person, noise: 'white noise', belowDb: 8 },
  ]);

  test.each(
    lines,
  )('no long sentence of $person is background talk, with $noise $belowDb dB below', async ({
    person,
    noise,
    belowDb,
  }) => {
    const around = noise === null ? null : nonSpeech(noise, 20);
    for (const [name, prompt] of promptsOf(person)) {
      const events = await eventsOn(lineWith(prompt, around, belowDb));

      expect(count(events, 'voice-started'), name).toBeGreaterThan(0);
      expect(count(events, 'background-talk'), name).toBe(0);
    }
  });

  test('one in thirty long sentences at most is background talk, with traffic 5 dB below', async () => {
    const traffic = nonSpeech('traffic', 20);
    const silenced: string[] = [];
    for (const [name, prompt] of RECORDED_PEOPLE.flatMap((person) => [...promptsOf(person)])) {
      const events = await eventsOn(lineWith(prompt, traffic, 5));
      if (count(events, 'background-talk') > 0) silenced.push(name);
    }

    expect(silenced.length, silenced.join(' ')).toBeLessThanOrEqual(1);
  });

  test.each(
    RECORDED_PEOPLE,
  )('seven tenths of the voice of %s are heard over the talk of six people 10 dB below', async (person) => {
    const talk = talkOfSix();
    let heardMs = 0;
    let spokenMs = 0;
    for (const prompt of [...promptsOf(person).values()].slice(0, 4)) {
      heardMs += voicedMs(await eventsOn(lineWith(prompt, talk, 10)));
      spokenMs += voicedMs(await eventsOn(lineWith(prompt, null, 0)));
    }

    expect(heardMs / spokenMs).toBeGreaterThan(0.7);
  });

  test('ten minutes of music on hold start no more than five voices', async () => {
    const music = musicOnHold();
    let voices = 0;
    for (const piece of music) {
      voices += count(await eventsOn(piece.subarray(0, 120 * RATE_HZ)), 'voice-started');
    }

    expect(music.length).toBeGreaterThanOrEqual(5);
    expect(voices).toBeLessThanOrEqual(5);
  });
});
