import { expect, test } from 'vitest';
import { CallSound } from '../../src/call/live-calls.ts';
import { qualityOf } from '../../src/call/session/call-quality.ts';
import type { AudioStats, StreamDetails } from '../../src/media/audio-stream.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { openCallWorld } from './support/call-world.ts';
import { ScriptedAudio } from './support/scripted-party.ts';

const DETAILS: StreamDetails = {
  codec: 'PCMU',
  packetsLate: 5,
  packetsUnsent: 0,
  remote: {
    ...{ packetsSent: 1000, packetsLost: 50, jitterMs: 4.26 },
    ...{ roundTripMs: 80.04, roundTripMsMax: 120 },
  },
};

const statsOf = (fields: Partial<AudioStats> = {}): AudioStats => ({
  ...{ packetsReceived: 990, packetsSent: 1010, packetsLost: 10, packetsRejected: 1 },
  ...{ jitterMs: 2.04, details: DETAILS, ...fields },
});

const FAULTLESS: Partial<AudioStats> = {
  ...{ packetsReceived: 1000, packetsLost: 0, jitterMs: 0 },
  details: { codec: 'PCMA', packetsLate: 0, packetsUnsent: 0, remote: undefined },
};

test('qualityOf tells both directions, and rates the worse one', () => {
  expect(qualityOf(statsOf())).toEqual({
    codec: 'PCMU',
    local: {
      ...{ packetsSent: 1010, packetsUnsent: 0, packetsReceived: 990, packetsLost: 10 },
      ...{ packetsLate: 5, packetsRejected: 1, lossPercent: 1.5, jitterMs: 2 },
    },
    remote: {
      ...{ packetsSent: 1000, packetsLost: 50, lossPercent: 5, jitterMs: 4.3 },
      ...{ roundTripMs: 80, roundTripMsMax: 120 },
    },
    mos: expect.closeTo(2.04, 0),
  });
});

test('qualityOf goes by what came to us where the far end reports nothing', () => {
  const quality = qualityOf(statsOf(FAULTLESS));

  expect(quality).toMatchObject({ codec: 'PCMA', remote: null, mos: 4.4 });
});

test('qualityOf rates nothing where nothing came either way', () => {
  const quality = qualityOf(statsOf({ ...FAULTLESS, packetsReceived: 0 }));

  expect(quality).toMatchObject({ local: { lossPercent: 0 }, mos: null });
});

test('qualityOf takes packets that our system did not send for lost, whatever came to us', () => {
  const unsent = { codec: 'PCMU', packetsLate: 0, packetsUnsent: 802, remote: undefined } as const;

  const quality = qualityOf(statsOf({ ...FAULTLESS, packetsSent: 298, details: unsent }));

  expect(quality).toMatchObject({ local: { packetsSent: 298, packetsUnsent: 802 }, mos: 1 });
});

test('qualityOf gives nothing of a call without packets', () => {
  expect(qualityOf(statsOf({ details: undefined }))).toBeUndefined();
});

test('CallSession keeps the quality of a call that is over', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();
  leg.audio.stats = () => Promise.resolve(statsOf());

  const before = await world.store.qualities.find((await world.call()).id);
  leg.release({ kind: 'far-end' });
  await over;

  expect(before).toBeUndefined();
  expect(await world.store.qualities.find((await world.call()).id)).toEqual(qualityOf(statsOf()));
});

test('CallSession keeps the quality when the disk is full no more', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();
  leg.audio.stats = () => Promise.resolve(statsOf());

  world.isDiskFull = true;
  leg.release({ kind: 'far-end' });
  await new Promise((resolve) => setImmediate(resolve));
  world.isDiskFull = false;
  world.store.clock.advance(1000);
  await over;

  expect((await world.store.qualities.find((await world.call()).id))?.codec).toBe('PCMU');
});

test('CallSession ends as ever where its line has no figures', async () => {
  const world = await openCallWorld();
  const { leg, over } = await world.answered();
  leg.audio.stats = () => Promise.reject(new Error('Cannot count packets: the line is gone'));

  leg.release({ kind: 'far-end' });
  await over;

  expect((await world.call()).status).toBe('completed');
  expect(await world.store.qualities.find((await world.call()).id)).toBeUndefined();
});

test('CallSound tells the quality of a call that goes on, so far', async () => {
  const audio = Object.assign(new ScriptedAudio(), { stats: () => Promise.resolve(statsOf()) });
  const scope = { accountId: 'acct_1', environment: 'live' } as const;
  const call = { callId: 'call_1', scope, audio, transfer: () => 'not-in-progress' as const };
  const sound = new CallSound({ clock: new FakeClock(), inProgress: () => [call] });

  const [own, none] = [await sound.quality('call_1'), await sound.quality('call_2')];

  expect([own, none]).toEqual([qualityOf(statsOf()), undefined]);
});
