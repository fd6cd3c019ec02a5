/** Recorded people and music on hold at the far end of outgoing calls: who has answered, through the voice detector that comes with Offhook. */
import { afterAll, expect, test } from 'vitest';
import { decodeG711, encodeG711 } from '../../../src/media/dsp/g711.ts';
import { openVoiceDetector } from '../../../src/speech/vad/silero/silero-detector.ts';
import { bundledSilero } from '../../../src/speech/vad/silero/silero-engine.ts';
import { describeWithout } from '../../support/server/programs.ts';
import {
  missingRecordings,
  musicOnHold,
  promptOf,
  RECORDED_PEOPLE,
  type RecordedPerson,
} from '../../support/speech/callees/recorded-people.ts';
import { hearSounds, screenCall } from '../../support/speech/callees/screened-call.ts';
import { tone } from '../../support/speech/tone.ts';

/** Level of a callee, in dB below full scale. */
const CALLEE_DBFS = -22;

const SAMPLES_PER_MS = 8;

const silence = (ms: number) => new Int16Array(ms * SAMPLES_PER_MS);
const joined = (...sounds: readonly Int16Array[]) =>
  Int16Array.from(sounds.flatMap((sound) => [...sound]));

/** A sound and another one under it, as long as the first. */
const over = (sound: Int16Array, under: Int16Array) =>
  sound.map((sample, at) => sample + (under[at % under.length] ?? 0));

/** A television: another person's talk of 27 s and more, without long pauses. */
function television(viewer: RecordedPerson, belowDb: number): Int16Array {
  const speaker = viewer === 'it_IT_m_Carlo' ? 'es_MX_f_Allison' : 'it_IT_m_Carlo';
  return promptOf(speaker, 'demo-congrats', CALLEE_DBFS - belowDb);
}

const ANSWERS = ['hello-world', 'dir-welcome', 'vm-goodbye', 'priv-recordintro'] as const;
const MACHINES = [
  ['vm-theperson', 'digits/4', 'digits/1', 'digits/5', 'vm-isunavail', 'vm-intro'],
  ['vm-sorry', 'vm-tempgreeting'],
  ['vm-intro'],
] as const;

describeWithout(missingRecordings, 'recorded callees', () => {
  const opened = openVoiceDetector(bundledSilero());

  afterAll(async () => (await opened).close());

  async function screened(pcm: Int16Array) {
    const line = decodeG711('PCMU', encodeG711('PCMU', pcm));
    const heard = await hearSounds(await opened, line);
    return screenCall('en', heard, line.length / SAMPLES_PER_MS);
  }

  const rooms = RECORDED_PEOPLE.flatMap((person) => [
    { person, belowDb: 15 },
    { person, belowDb: 20 },
  ]);

  test.each(
    rooms,
  )('$person, with a television $belowDb dB below, is a person and is greeted', async ({
    person,
    belowDb,
  }) => {
    for (const name of ANSWERS) {
      const answer = joined(silence(400), promptOf(person, name, CALLEE_DBFS));

      const call = await screened(over(joined(answer, silence(7000)), television(person, belowDb)));

      const waitMs = (call.greetedAtMs ?? Number.NaN) - answer.length / SAMPLES_PER_MS;
      expect(call.answeredBy, name).toBe('human');
      expect(waitMs, name).toBeLessThan(2500);
    }
  });

  test.each(
    RECORDED_PEOPLE,
  )('a greeting of %s is a machine, with a television too', async (person) => {
    for (const names of MACHINES) {
      const words = names.flatMap((name) => [promptOf(person, name, CALLEE_DBFS), silence(200)]);
      const greeting = joined(silence(400), ...words, silence(3000));

      const quiet = await screened(greeting);
      const loud = await screened(over(greeting, television(person, 20)));

      expect([quiet.answeredBy, loud.answeredBy], names.join()).toEqual(['machine', 'machine']);
    }
  });

  test('music on hold after a hello has no beep of a machine, but for one piece', async () => {
    const hello = joined(silence(400), promptOf('it_IT_m_Carlo', 'hello-world', CALLEE_DBFS));
    const [pieceMs, everyMs, lastMs] = [15_000, 20_000, 100_000];
    const machines: string[] = [];
    for (const [index, music] of musicOnHold().entries()) {
      for (let atMs = 0; atMs <= lastMs; atMs += everyMs) {
        const from = atMs * SAMPLES_PER_MS;
        const piece = music.subarray(from, from + pieceMs * SAMPLES_PER_MS);
        const { answeredBy } = await screened(joined(hello, silence(300), piece));
        if (answeredBy === 'machine') machines.push(`piece ${index} at ${atMs} ms`);
      }
    }

    expect(machines.length, machines.join()).toBeLessThanOrEqual(1);
  });

  test.each(
    RECORDED_PEOPLE,
  )('%s, who transfers the call to a telephone that rings, is a person', async (person) => {
    const answer = joined(silence(400), promptOf(person, 'hello-world', CALLEE_DBFS));
    const ringing = joined(silence(300), tone(425, 1000, 6000), silence(4000));

    const { answeredBy } = await screened(joined(answer, ringing, ringing));

    expect(answeredBy).toBe('human');
  });

  test.each(RECORDED_PEOPLE)('a short greeting of %s and a beep are a machine', async (person) => {
    const greeting = joined(silence(400), promptOf(person, 'vm-isunavail', CALLEE_DBFS));

    const { answeredBy } = await screened(
      joined(greeting, silence(600), tone(1000, 500, 6000), silence(2000)),
    );

    expect(answeredBy).toBe('machine');
  });
});
