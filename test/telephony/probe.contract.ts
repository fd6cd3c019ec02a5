/** How every carrier notices that the proxy of a trunk without registration is dead, and that it is back. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import type { Carrier } from '../../src/telephony/carrier.ts';
import { freePort } from '../support/network/free-ports.ts';
import { type StartPlane, trunkTo } from './plane.ts';

/** Two unanswered requests of 4 s each, and the waits before them; as much again on a busy machine. */
const DOWN_MS_MAX = 22_000;

/** An interval and the jitter; as much again on a busy machine. */
const BACK_MS_MAX = 12_000;

export function describeProbes(
  name: string,
  startPlane: StartPlane,
  transports: readonly ('udp' | 'tcp')[],
): void {
  describe(name, () => {
    test.each(transports)('Carrier reports a proxy that is dead over %s, and that it is back', {
      timeout: 60_000,
    }, async (transport) => {
      const port = await freePort();
      const trunk = trunkTo(`127.0.0.1:${port};transport=${transport}`, {
        optionsIntervalSeconds: 5,
      });
      const plane = await startPlane([trunk]);
      onTestFinished(plane.stop);
      const phone = new Phone({ port });
      onTestFinished(() => phone.stop());

      await expect.poll(() => isReady(plane.carrier), { timeout: DOWN_MS_MAX }).toBe(false);
      const { state } = trunkOf(plane.carrier) ?? {};
      await phone.start();
      await expect.poll(() => isReady(plane.carrier), { timeout: BACK_MS_MAX }).toBe(true);

      expect(state).toMatch(`127.0.0.1:${port}`);
      expect(state).toMatch(/no answer to OPTIONS|out of reach/);
    });
  });
}

function trunkOf(carrier: Carrier) {
  return carrier.reports().find((report) => report.name === 'trunk peer');
}

function isReady(carrier: Carrier): boolean | undefined {
  return trunkOf(carrier)?.isReady;
}
