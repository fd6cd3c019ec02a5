/** The echo gate on phrases of the fixtures: which frames of a line it takes for the agent's own voice. */
import { expect, test } from 'vitest';
import { EchoGate } from '../../src/media/dsp/echo-gate.ts';
import { EnergyDetector } from '../../src/media/dsp/energy-detector.ts';
import { decodeG711, encodeG711 } from '../../src/media/dsp/g711.ts';
import { meanPower } from '../../src/media/dsp/level-meter.ts';
import { phraseSaying, readPhrase, SPOKEN_PHRASES } from '../speech/spoken-phrases.ts';
import { EchoPath, type EchoPathOptions } from '../support/speech/echo-path.ts';

const FRAME = 160;
const SILENCE = new Int16Array(FRAME);

const onTheLine = (pcm: Int16Array) => decodeG711('PCMU', encodeG711('PCMU', pcm));

/** About 20 s of phrases one after the other. */
const AGENT = joined(SPOKEN_PHRASES.map(({ file }) => readPhrase(file)));

/** The same voice with other words: the hardest caller to tell from an echo. */
const CALLER = joined(SPOKEN_PHRASES.toReversed().map(({ file }) => readPhrase(file)));

function joined(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function* framesOf(pcm: Int16Array): Iterable<Int16Array> {
  for (let at = 0; at + FRAME <= pcm.length; at += FRAME) yield pcm.subarray(at, at + FRAME);
}

/** What comes back while the agent speaks. @returns voices that begin before and behind the gate, and frames it took. */
function listen(echo: EchoPathOptions | null, caller: Int16Array | null) {
  const gate = new EchoGate();
  const path = echo === null ? null : new EchoPath(echo);
  const [raw, gated] = [new EnergyDetector(), new EnergyDetector()];
  const counts = { voices: 0, gatedVoices: 0, loud: 0, taken: 0 };
  let at = 0;
  for (const frame of framesOf(AGENT)) {
    gate.play(frame);
    const back = path?.pass(frame) ?? SILENCE;
    const own = caller?.subarray(at, at + FRAME) ?? SILENCE;
    const heard = onTheLine(back.map((sample, index) => sample + (own[index] ?? 0)));
    const isEcho = gate.isEcho(heard);
    if (meanPower(own) > 300 ** 2) {
      counts.loud += 1;
      if (isEcho) counts.taken += 1;
    }
    const atMs = at / 8;
    if (raw.hear(heard, atMs)?.kind === 'voice-started') counts.voices += 1;
    const passed = isEcho ? SILENCE : heard;
    if (gated.hear(passed, atMs)?.kind === 'voice-started') counts.gatedVoices += 1;
    at += FRAME;
  }
  return counts;
}

const ECHOES = [0, 8].flatMap((smearMs) =>
  [-15, -22, -30].flatMap((gainDb) =>
    [40, 137, 250].map((delayMs) => [smearMs, gainDb, delayMs] as const),
  ),
);

test.each(
  ECHOES,
)('an echo smeared over %d ms, %d dB, after %d ms is no voice', (smearMs, gainDb, delayMs) => {
  const { voices, gatedVoices } = listen({ smearMs, gainDb, delayMs }, null);

  // The faintest are hardly heard without the gate too.
  if (gainDb > -30) expect(voices).toBeGreaterThan(5);
  expect(gatedVoices).toBeLessThanOrEqual(1);
});

test('a caller who talks over the agent is let through where the line has no echo', () => {
  const { loud, taken } = listen(null, CALLER);

  expect(loud).toBeGreaterThan(300);
  expect(taken / loud).toBeLessThan(0.03);
});

test('a caller as loud as the agent is let through on a line with an echo', () => {
  const { loud, taken } = listen({ smearMs: 8, gainDb: -20, delayMs: 100 }, CALLER);

  expect(taken / loud).toBeLessThan(0.1);
});

const QUESTION = phraseSaying('What are your opening hours?');

/** All but the question itself. */
const OTHER_WORDS = joined(
  SPOKEN_PHRASES.filter(({ text }) => text !== 'What are your opening hours?').map(({ file }) =>
    readPhrase(file),
  ),
);

/** The line has had an echo until the question begins. @returns the share of its frames that the gate takes. */
function takenOfQuestion(startMs: number, gain: number): number {
  const gate = new EchoGate();
  const path = new EchoPath({ smearMs: 8, gainDb: -20, delayMs: 100 });
  const start = startMs * 8;
  const speech = [...framesOf(OTHER_WORDS.subarray(0, start + QUESTION.length))].map(
    (frame, index) => {
      const at = index * FRAME - start;
      const own = frame.map((_, sample) => (QUESTION[at + sample] ?? 0) * gain);
      gate.play(frame);
      const heard = path.pass(frame).map((sample, place) => sample + (own[place] ?? 0));
      return { own, isEcho: gate.isEcho(onTheLine(heard)) };
    },
  );
  const spoken = speech.filter(({ own }) => meanPower(own) > (150 * gain) ** 2);
  return spoken.filter(({ isEcho }) => isEcho).length / spoken.length;
}

test.each([
  [1, 0.02, 0.1],
  [0.5, 0.05, 0.2],
])('a question, %d times as loud as the agent, keeps its words where an echo is known', (gain, meanMax, max) => {
  const starts = Array.from({ length: 50 }, (_, index) => 3000 + 120 * index);
  const taken = starts.map((startMs) => takenOfQuestion(startMs, gain));

  const mean = taken.reduce((sum, share) => sum + share, 0) / taken.length;
  expect(mean).toBeLessThan(meanMax);
  expect(Math.max(...taken)).toBeLessThan(max);
});

test('a silent agent has no echo', () => {
  const gate = new EchoGate();
  const taken = [...framesOf(CALLER)].filter((frame) => {
    gate.play(SILENCE);
    return gate.isEcho(frame);
  });

  expect(taken).toEqual([]);
});

test('an echo is found again after the line has changed its delay', () => {
  const gate = new EchoGate();
  const taken = [60, 180].map((delayMs) => {
    const path = new EchoPath({ smearMs: 8, gainDb: -20, delayMs });
    const frames = [...framesOf(AGENT)].map((frame) => {
      gate.play(frame);
      const heard = onTheLine(path.pass(frame));
      return { isLoud: meanPower(heard) > 300 ** 2, isEcho: gate.isEcho(heard) };
    });
    const loud = frames.filter(({ isLoud }) => isLoud);
    return loud.filter(({ isEcho }) => isEcho).length / loud.length;
  });

  expect(Math.min(...taken)).toBeGreaterThan(0.9);
});

test.each([8, 9, 13])('an echo that comes only after %d s is found a second later', (seconds) => {
  const gate = new EchoGate();
  const path = new EchoPath({ smearMs: 8, gainDb: -20, delayMs: 100 });
  const caller = CALLER.slice(0, seconds * 8000);

  const taken = [...framesOf(AGENT)].map((frame, index) => {
    const own = caller.subarray(index * FRAME, (index + 1) * FRAME);
    const echo = path.pass(frame);
    gate.play(frame);
    return gate.isEcho(onTheLine(own.length > 0 ? own : echo));
  });

  const foundAtMs = taken.indexOf(true) * 20;
  expect(foundAtMs - seconds * 1000).toBeGreaterThanOrEqual(0);
  expect(foundAtMs - seconds * 1000).toBeLessThan(1200);
});
