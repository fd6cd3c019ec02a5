/** Calls between two user agents whose datagrams get lost, in both directions. */
import { afterEach, describe, expect, test } from 'vitest';
import type { FakeClock } from '../support/time/fake-clock.ts';
import { runningClock } from '../support/time/running-clock.ts';
import { SDP } from './messages.ts';
import {
  ALL_OVER_MS,
  losingSocket,
  type Pair,
  seededChance,
  startPair,
  stopPair,
} from './user-agents.ts';

const pairs: Pair[] = [];

afterEach(async () => {
  await Promise.all(pairs.splice(0).map(stopPair));
});

interface LossyPair extends Pair {
  readonly clock: FakeClock;
}

/** Two user agents over sockets that lose what `isLost` says; Bob answers every call. */
async function lossyPair(isLost: () => boolean): Promise<LossyPair> {
  const openUdpSocket = losingSocket(isLost);
  const clock = runningClock();
  const options = { openUdpSocket, clock };
  const pair = await startPair('UDP', { alice: options, bob: options });
  pairs.push(pair);
  pair.bob.on('invite', (invite) => {
    invite.progress(180);
    const { dialog } = invite.accept({ body: SDP });
    dialog.on('reinvite', ({ respond }) => respond(200, { body: SDP }));
    dialog.on('request', ({ respond }) => respond(200));
  });
  return { ...pair, clock };
}

/** One call with an INFO and a hold in it; the statuses of all that was asked. */
async function wholeCall({ alice, bobUri }: Pair): Promise<number[]> {
  const { response, dialog } = await alice.invite({ uri: bobUri, body: SDP }).outcome;
  if (dialog === null) return [response.status];
  const info = await dialog.request('INFO', { body: 'x', contentType: 'text/plain' });
  const hold = await dialog.reinvite({ body: SDP });
  const bye = await dialog.bye();
  return [response.status, info.status, hold.status, bye?.status ?? 0];
}

/** All that anyone kept of calls that are over, once every timer has run. */
async function expectNothingLeft({ alice, bob, clock }: LossyPair): Promise<void> {
  const overAtMs = clock.nowMs() + ALL_OVER_MS;
  while (clock.nowMs() < overAtMs) await new Promise((resolve) => setTimeout(resolve, 5));
  expect([alice.sizes.transactions, bob.sizes.transactions]).toEqual([0, 0]);
  expect([alice.sizes.dialogs, bob.sizes.dialogs]).toEqual([0, 0]);
}

describe('two user agents', () => {
  test.each([
    [5, 60],
    [20, 60],
  ])('hold and end every call at %i %% loss', async (percent, calls) => {
    const chance = seededChance(percent);
    let lostCount = 0;
    const pair = await lossyPair(() => {
      const isLost = chance() < percent / 100;
      if (isLost) lostCount += 1;
      return isLost;
    });

    const statuses = await Promise.all(Array.from({ length: calls }, () => wholeCall(pair)));

    expect(statuses).toEqual(Array(calls).fill([200, 200, 200, 200]));
    expect(lostCount).toBeGreaterThan(calls / 4);
    await expectNothingLeft(pair);
  });

  test('hold and end the call, whichever of its packets is lost', async () => {
    // INVITE 180 200 ACK, INFO 200, INVITE 200 ACK, BYE 200.
    const packetsOfACall = 11;
    const worlds = Array.from({ length: packetsOfACall }, async (_, lost) => {
      let count = 0;
      const pair = await lossyPair(() => count++ === lost);
      const statuses = await wholeCall(pair);
      await expectNothingLeft(pair);
      return { statuses, wasLost: count > lost };
    });

    const outcomes = await Promise.all(worlds);

    expect(outcomes).toEqual(
      Array(packetsOfACall).fill({ statuses: [200, 200, 200, 200], wasLost: true }),
    );
  });

  test('leave nothing behind when everything is lost', async () => {
    const pair = await lossyPair(() => true);

    const statuses = await wholeCall(pair);

    expect(statuses).toEqual([408]);
    await expectNothingLeft(pair);
  });
});
