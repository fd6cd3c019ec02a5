import { expect, test } from 'vitest';
import { transcribedEvent } from '../../src/call/analysis/analyst.ts';
import { callEndedEvent } from '../../src/domain/call/call-events.ts';
import { buildCall } from '../support/store/build-call.ts';

const NOW = new Date('2026-11-20T12:00:10.000Z');

test.each([
  ['when the call ended long ago', '2026-11-20T12:00:01.000Z', '2026-11-20T12:00:10.000Z'],
  [
    'when a simulated call was told to end later',
    '2026-11-20T12:00:32.000Z',
    '2026-11-20T12:00:32.001Z',
  ],
])('transcribedEvent is created after all that was told before, %s', (_when, toldAt, createdAt) => {
  const endedAt = new Date('2026-11-20T12:00:00.500Z');
  const call = buildCall({ status: 'completed', endReason: 'user_hangup', endedAt });
  const told = [callEndedEvent(call, { id: 'evt_1', now: new Date(toldAt) })];

  const event = transcribedEvent(call, {
    transcript: [],
    told,
    recordingUrl: '',
    now: NOW,
    eventId: 'evt_2',
  });

  expect(event.createdAt.toISOString()).toBe(createdAt);
  expect(JSON.parse(event.body)).toMatchObject({ event: 'call.transcribed', createdAt });
});
