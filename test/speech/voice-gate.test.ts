/** When a voice has begun and when it has stopped. */
import { expect, test } from 'vitest';
import type { VoiceEvent } from '../../src/speech/hearing/hearing.ts';
import { VadGate } from '../../src/speech/vad/vad-gate.ts';

/** Pushes windows of 32 ms, from instant 0 on. */
function eventsOf(probabilities: readonly number[]): VoiceEvent[] {
  const gate = new VadGate();
  return probabilities.flatMap((probability, index) => {
    const event = gate.push(probability, { startAtMs: index * 32, endAtMs: index * 32 + 32 });
    return event === null ? [] : [event];
  });
}

test.each([
  { what: 'one voiced window is a click', probabilities: [0.1, 0.9, 0.1, 0.9, 0.1], events: [] },
  {
    what: 'two voiced windows are a voice, from the start of the first',
    probabilities: [0.1, 0.6, 0.5],
    events: [{ kind: 'voice-started', atMs: 32 }],
  },
  {
    what: 'one quiet window is no end',
    probabilities: [0.9, 0.9, 0.1, 0.9, 0.1, 0.9],
    events: [{ kind: 'voice-started', atMs: 0 }],
  },
  {
    what: 'between the thresholds a voice goes on',
    probabilities: [0.9, 0.9, 0.4, 0.36, 0.4, 0.4],
    events: [{ kind: 'voice-started', atMs: 0 }],
  },
  {
    what: 'two quiet windows are the end, told with the last voiced one',
    probabilities: [0.9, 0.9, 0.4, 0.1, 0.3],
    events: [
      { kind: 'voice-started', atMs: 0 },
      { kind: 'voice-stopped', lastVoicedAtMs: 96 },
    ],
  },
  {
    what: 'a voice may begin again',
    probabilities: [0.9, 0.9, 0.1, 0.1, 0.9, 0.9],
    events: [
      { kind: 'voice-started', atMs: 0 },
      { kind: 'voice-stopped', lastVoicedAtMs: 64 },
      { kind: 'voice-started', atMs: 128 },
    ],
  },
])('VadGate: $what', ({ probabilities, events }) => {
  expect(eventsOf(probabilities)).toEqual(events);
});

test('VadGate closes at once when nothing follows, and only when it was open', () => {
  const gate = new VadGate();
  gate.push(0.9, { startAtMs: 0, endAtMs: 32 });
  gate.push(0.9, { startAtMs: 32, endAtMs: 64 });

  expect(gate.close()).toEqual({ kind: 'voice-stopped', lastVoicedAtMs: 64 });
  expect(gate.close()).toBeNull();
});
