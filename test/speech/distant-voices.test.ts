/** Voices far below the caller's: when they count as silence, and when they are the caller's. */
import { expect, test } from 'vitest';
import { DistantVoices } from '../../src/speech/vad/distant-voices.ts';

const WINDOWS_A_SECOND = 1000 / 32;

/** Mean square of a level in dB; 0 dB is the caller's voice. */
const power = (db: number) => 10 ** (6 + db / 10);

/** Voice of an even level. @param isVoiceOpen whether it is taken for the caller's. */
function hear(voices: DistantVoices, seconds: number, db: number, isVoiceOpen = true): void {
  for (let window = 0; window < seconds * WINDOWS_A_SECOND; window += 1) {
    voices.hear({ power: power(db), isVoiced: true, isVoiceOpen });
  }
}

function pause(voices: DistantVoices, seconds: number): void {
  for (let window = 0; window < seconds * WINDOWS_A_SECOND; window += 1) {
    voices.hear({ power: power(-60), isVoiced: false, isVoiceOpen: false });
  }
}

test('DistantVoices covers voices 12 dB below the caller, 16 dB for one under way, after half a second of one', () => {
  const voices = new DistantVoices();
  hear(voices, 1.1, 0);
  hear(voices, 0.6, -18, false);

  expect(voices.covers(power(-12.5), false)).toBe(true);
  expect(voices.covers(power(-11), false)).toBe(false);
  expect(voices.covers(power(-16.5), true)).toBe(true);
  expect(voices.covers(power(-15), true)).toBe(false);
});

test.each([
  { what: 'a soft word of the caller', voiceSeconds: 1.1, distantSeconds: 0.4 },
  { what: 'less than a second of a voice', voiceSeconds: 0.9, distantSeconds: 3 },
])('DistantVoices covers nothing after $what', ({ voiceSeconds, distantSeconds }) => {
  const voices = new DistantVoices();
  hear(voices, voiceSeconds, 0);
  hear(voices, distantSeconds, -18, false);

  expect(voices.covers(power(-60), false)).toBe(false);
});

test('DistantVoices takes no level from a knock, which is no voice under way', () => {
  const voices = new DistantVoices();
  hear(voices, 1.1, 20, false);
  hear(voices, 1.1, 0);
  hear(voices, 0.6, -18, false);

  expect(voices.covers(power(-11), false)).toBe(false);
});

test('DistantVoices hears a caller who comes in louder than the television at once', () => {
  const voices = new DistantVoices();
  hear(voices, 10, -18);
  hear(voices, 2, 0);
  hear(voices, 0.6, -18, false);

  expect(voices.covers(power(-15), false)).toBe(true);
  expect(voices.covers(power(-9), false)).toBe(false);
});

test('DistantVoices hears a second person, 18 dB softer, after 15 s of their voice', () => {
  const voices = new DistantVoices();
  hear(voices, 10, 0);
  hear(voices, 15, -18, false);

  expect(voices.covers(power(-18), false)).toBe(false);
});

test.each([
  { seconds: 59, isCovered: true },
  { seconds: 61, isCovered: false },
])('DistantVoices after $seconds s without one: $isCovered', ({ seconds, isCovered }) => {
  const voices = new DistantVoices();
  hear(voices, 1.1, 0);
  hear(voices, 0.6, -18, false);
  pause(voices, seconds);

  expect(voices.covers(power(-18), false)).toBe(isCovered);
});
