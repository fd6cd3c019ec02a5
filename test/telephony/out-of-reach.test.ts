/** How an outgoing call tells a carrier that cannot be reached from one that refuses. */
import { afterEach, expect, test } from 'vitest';
import type { CarrierError } from '../../src/telephony/carrier.ts';
import type { Trunk } from '../../src/telephony/trunks/trunks.ts';
import { startCarrier } from '../support/sip/scripted-carrier.ts';
import { startSilentPlane } from './embedded-plane.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function failureOver(trunk: Trunk): Promise<CarrierError> {
  const plane = await startSilentPlane([trunk]);
  stops.push(() => plane.stop());
  const request = { from: OURS, to: THEIRS, ringingTimeoutMs: 20_000 };
  return plane.carrier.place(request).answered.catch((error) => error);
}

test('OutgoingCall is unreached where nothing listens at the proxy', async () => {
  const error = await failureOver(trunkTo('127.0.0.1:18999;transport=tcp'));

  expect(error).toMatchObject({ refusedWith: 503, isUnreached: true });
});

test.each([
  503, 408,
])('OutgoingCall is refused where the carrier itself answers %i', async (status) => {
  const carrier = await startCarrier(({ method }) =>
    method === 'INVITE' ? { status } : undefined,
  );
  stops.push(() => carrier.stop());

  const error = await failureOver(trunkTo(carrier.hostPort));

  expect(error).toMatchObject({ refusedWith: status, isUnreached: false });
});
