/** In which pieces a sentence leaves the speaking child. */

import { expect, test } from 'vitest';
import { SentenceJob } from '../../src/speech/tts/espeak/sentence-job.ts';
import type { SpeakingReply } from '../../src/speech/tts/pool/synthesizer-pool.ts';

const RATE_HZ = 22_050;

function job() {
  const replies: SpeakingReply[] = [];
  let timesOver = 0;
  const voice = { name: 'gmw/en+f2', wordsPerMinute: 165, gainDb: 0 };
  const sentenceJob = new SentenceJob({
    id: 7,
    sentence: { text: 'Hello.', voice, pauseAfterMs: 0 },
    reply: (message) => replies.push(message),
    over: () => {
      timesOver++;
    },
  });
  const samples = () =>
    replies.map((message) => (message.kind === 'audio' ? message.pcm.length : message.kind));
  return { sentenceJob, replies, samples, timesOver: () => timesOver };
}

/** A WAV of a loud buzz. */
function wav(seconds: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(RATE_HZ, 24);
  const buzz = Int16Array.from({ length: seconds * RATE_HZ }, (_, n) => (n % 100) * 100);
  return Buffer.concat([header, Buffer.from(buzz.buffer)]);
}

test('SentenceJob sends the first sound at once, and then quarters of a second', () => {
  const { sentenceJob, samples } = job();

  sentenceJob.wave(wav(2));
  sentenceJob.ended();

  const [first, ...others] = samples();
  expect(first).toBeLessThan(800);
  expect(others.slice(0, -2).every((count) => Number(count) >= 2000)).toBe(true);
  expect(samples().at(-1)).toBe('ended');
});

test('SentenceJob is over once, whatever comes afterwards', () => {
  const { sentenceJob, replies, timesOver } = job();
  sentenceJob.failed('no such voice');

  sentenceJob.wave(wav(1));
  sentenceJob.ended();
  sentenceJob.failed('again');

  expect(replies).toEqual([{ kind: 'failed', id: 7, reason: 'no such voice' }]);
  expect(timesOver()).toBe(1);
});

test('SentenceJob fails when what comes is not a WAV', () => {
  const { sentenceJob, replies } = job();

  sentenceJob.wave(Buffer.alloc(100));

  expect(replies).toMatchObject([{ kind: 'failed', reason: expect.stringContaining('not a WAV') }]);
});

test('SentenceJob sends no more than ten minutes', () => {
  const { sentenceJob, replies } = job();
  const minute = wav(60).subarray(44);
  sentenceJob.wave(wav(0));

  for (let minutes = 0; minutes < 12; minutes++) {
    sentenceJob.wave(minute);
  }
  sentenceJob.ended();

  const total = replies.reduce(
    (sum, reply) => sum + (reply.kind === 'audio' ? reply.pcm.length : 0),
    0,
  );
  expect(total).toBe(600 * 8000);
});
