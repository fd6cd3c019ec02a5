import { expect, test } from 'vitest';
import { connectSound, mixSound } from '../../src/telephony/media-gateway.ts';
import { FROM, HOLD, OFFER, openGateway } from './support/freeswitch-world.ts';

test('FreeSwitchGateway bridges two carriers inside FreeSWITCH, and the engine is out of the way', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  const one = await gateway.open({ ...FROM, remoteSdp: OFFER });
  const other = await gateway.open({ ...FROM, near: one.line });
  const events: string[] = [];
  for (const { audio } of [one, other]) audio.onEvent(({ kind }) => events.push(kind));
  const [outer, , otherOuter] = [...one.channels, ...other.channels];

  await connectSound(one, other);
  await expect.poll(() => double.legs.length).toBe(2);
  await one.negotiate(HOLD);
  const left = double.legs;
  await Promise.all([one.close(), other.close()]);

  expect([...left].sort()).toEqual([outer, otherOuter].sort());
  expect(double.modified).toHaveLength(1);
  expect(lines.opened.map(({ isClosed, source }) => [isClosed, source])).toEqual([
    [true, undefined],
    [true, undefined],
  ]);
  expect(events).toEqual([]);
  await expect.poll(() => double.legs).toEqual([]);
});

test('FreeSwitchGateway leaves three on a line to the engine, and bridges two of them once the agent is gone', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  const one = await gateway.open({ ...FROM, remoteSdp: OFFER });
  const other = await gateway.open({ ...FROM, near: one.line });

  await mixSound(one, other);
  const [mixed, legs] = [lines.opened[0]?.mixed, double.legs.length];
  await connectSound(one, other);
  await expect.poll(() => double.legs.length).toBe(2);
  await Promise.all([one.close(), other.close()]);

  expect(mixed).toBe(other.line);
  expect(legs).toBe(4);
  await expect.poll(() => double.legs).toEqual([]);
});

test('FreeSwitchGateway leaves both as they were when they cannot be bridged', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  const one = await gateway.open({ ...FROM, remoteSdp: OFFER });
  const other = await gateway.open({ ...FROM, near: one.line });
  double.bridgeReply = '-ERR Invalid uuid';

  await expect(connectSound(one, other)).rejects.toMatchObject({ sipStatus: 503 });
  const left = double.legs;

  expect(left).toHaveLength(4);
  expect(lines.opened.map(({ isClosed }) => isClosed)).toEqual([false, false]);
  await Promise.all([one.close(), other.close()]);
});

test('FreeSwitchGateway joins carriers of different servers by their lines', async () => {
  const [first, second] = [await openGateway(), await openGateway()];
  await Promise.all([first.gateway.start(), second.gateway.start()]);
  const one = await first.gateway.open({ ...FROM, remoteSdp: OFFER });
  const other = await second.gateway.open({ ...FROM, remoteSdp: OFFER });

  await connectSound(one, other);

  expect(first.lines.opened[0]?.source).toBe(other.line);
  expect(second.lines.opened[0]?.source).toBe(one.line);
  expect([first.double.legs.length, second.double.legs.length]).toEqual([2, 2]);
});
