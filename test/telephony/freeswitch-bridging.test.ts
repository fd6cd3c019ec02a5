import { expect, test } from 'vitest';
import { connectAudio } from '../../src/telephony/media-gateway.ts';
import { FROM, HOLD, OFFER, openGateway } from './support/freeswitch-world.ts';

test('FreeSwitchGateway joins two carriers by the engine, so that they can be recorded and held', async () => {
  const { gateway, double, lines } = await openGateway();
  await gateway.start();
  const one = await gateway.open({ ...FROM, remoteSdp: OFFER });
  const other = await gateway.open({ ...FROM, near: one.session });

  connectAudio(one, other);
  await one.negotiate(HOLD);
  const [legs, modified] = [double.legs.length, double.modified.length];
  const sources = lines.opened.map(({ source }) => source);
  await Promise.all([one.close(), other.close()]);

  expect(sources).toEqual([other.session, one.session]);
  // The held carrier, and the engine that rests meanwhile.
  expect([legs, modified]).toEqual([4, 2]);
  await expect.poll(() => double.legs).toEqual([]);
});

test('FreeSwitchGateway joins carriers of different servers by their lines', async () => {
  const [first, second] = [await openGateway(), await openGateway()];
  await Promise.all([first.gateway.start(), second.gateway.start()]);
  const one = await first.gateway.open({ ...FROM, remoteSdp: OFFER });
  const other = await second.gateway.open({ ...FROM, remoteSdp: OFFER });

  connectAudio(one, other);

  expect(first.lines.opened[0]?.source).toBe(other.session);
  expect(second.lines.opened[0]?.source).toBe(one.session);
  expect([first.double.legs.length, second.double.legs.length]).toEqual([2, 2]);
});
