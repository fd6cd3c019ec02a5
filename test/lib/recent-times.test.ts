import { expect, test } from 'vitest';
import { RecentTimes } from '../../src/lib/metrics/model-metrics.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function openTimes() {
  const clock = new FakeClock(100_000);
  const passed: string[] = [];
  const times = new RecentTimes({
    times: {
      answered: (job, engine, tookMs) => void passed.push(`${job} ${engine} ${tookMs}`),
      failed: (job, engine) => void passed.push(`${job} ${engine} failed`),
    },
    clock,
  });
  const answer = (...tookMs: readonly number[]) => {
    for (const ms of tookMs) times.answered('stt', 'whisper', ms);
  };
  return { clock, passed, times, answer };
}

test('RecentTimes passes everything on', () => {
  const { passed, times, answer } = openTimes();

  answer(20);
  times.failed('llm', 'ollama');

  expect(passed).toEqual(['stt whisper 20', 'llm ollama failed']);
});

test('RecentTimes says nothing after too few answers, or about another job', () => {
  const { times, answer } = openTimes();

  answer(10, 20, 30, 40);

  expect(times.recentMs('stt')).toBeNull();
  expect(times.quickestMs('stt')).toBeNull();
  expect(times.recentMs('llm')).toBeNull();
});

test('RecentTimes gives the middle of the last ten seconds, and the quickest five that there ever were', () => {
  const { clock, times, answer } = openTimes();

  answer(50, 10, 20, 9000, 30);
  clock.advance(11_000);
  const later = times.recentMs('stt');
  answer(400, 500, 600, 700, 800);

  expect(later).toBeNull();
  expect(times.recentMs('stt')).toBe(600);
  expect(times.quickestMs('stt')).toBe(30);
});

test('RecentTimes keeps no more than it needs, however many answers there are', () => {
  const { times, answer } = openTimes();

  answer(...Array.from({ length: 5000 }, (_, index) => index));

  expect(times.recentMs('stt')).toBe(4872);
});
