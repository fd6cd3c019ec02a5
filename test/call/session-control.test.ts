import { expect, test } from 'vitest';
import { openCallWorld } from './support/call-world.ts';

test('CallSession tells a transfer and an appointment as events of the call', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  const at = new Date('2026-11-24T09:00:00.000Z');

  await talk.options.control.transfer('+390698765432', 'wants a root canal');
  talk.options.control.appointmentBooked({
    title: 'Check-up',
    startTime: at,
    endTime: new Date(at.getTime() + 1_800_000),
    attendeePhone: '+390612345678',
    attendeeName: 'Ada',
    calendarId: 'main',
    confirmed: true,
  });
  leg.release({ kind: 'transferred' });
  await over;

  const [, bridged, booked] = await world.store.events.listByCall((await world.call()).id);
  expect(JSON.parse(bridged?.body ?? '')).toMatchObject({
    event: 'call.bridged',
    data: {
      bridgedTo: '+390698765432',
      qualificationSummary: 'wants a root canal',
      agentRole: 'left',
    },
  });
  expect(JSON.parse(booked?.body ?? '')).toMatchObject({
    event: 'appointment.booked',
    data: { appointment: { title: 'Check-up', startTime: '2026-11-24T09:00:00.000Z' } },
  });
  expect(await world.events()).toEqual([
    'call.started',
    'call.bridged',
    'appointment.booked',
    'call.ended',
  ]);
});

test('CallSession ends a call that a customer hangs up as the agent would', async () => {
  const world = await openCallWorld();
  const { over } = await world.answered();

  const isLive = world.registry.hangUp((await world.call()).id);
  await over;

  expect(isLive).toBe(true);
  expect(await world.call()).toMatchObject({ status: 'completed', endReason: 'agent_hangup' });
});

test('CallSession adds a late bridge to the newest stored state of the call', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  leg.release({ kind: 'transferred' });
  await over;
  const analysed = {
    ...(await world.call()),
    summary: 'Wants a root canal.',
    intentDetected: 'booking',
  };
  await world.store.analyses.finish(analysed, []);

  await talk.options.control.transfer('+390698765432', '');

  expect(await world.call()).toMatchObject({
    summary: 'Wants a root canal.',
    intentDetected: 'booking',
  });
  expect(await world.events()).toEqual(['call.started', 'call.ended', 'call.bridged']);
});

test('CallSession falls silent, and ends its record, when it hangs up, however long the far end takes to agree', async () => {
  const world = await openCallWorld();
  const { leg, talk, over } = await world.answered();
  leg.hangUp = () => Promise.resolve();
  world.store.clock.advance(5000);

  world.registry.hangUp((await world.call()).id);
  await new Promise((resolve) => setImmediate(resolve));
  const stopsBefore = talk.stops;
  world.store.clock.advance(32_000);
  leg.release({ kind: 'near-end' });
  await over;

  expect(stopsBefore).toBe(1);
  expect(talk.stops).toBe(1);
  expect(await world.call()).toMatchObject({ endReason: 'agent_hangup', durationSeconds: 5 });
});
