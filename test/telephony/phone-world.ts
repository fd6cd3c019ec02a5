/** A carrier with SIP underneath and the example telephone at its other end, for the carrier's contract. */
import { setTimeout as wait } from 'node:timers/promises';
import { Phone } from '../../examples/phone/phone.ts';
import type { PhoneCall } from '../../examples/phone/phone-call.ts';
import type { Behaviour, CarrierWorld } from './carrier.contract.ts';
import { OURS, type StartPlane, THEIRS, tone, trunkTo } from './plane.ts';

/** The number that is called chooses what its owner does. */
const NUMBERS: Readonly<Record<Behaviour, string>> = {
  talks: THEIRS,
  'is-busy': '+15550100002',
  'is-not-there': '+15550100003',
  'hangs-up': '+15550100004',
};

export function phoneWorld(startPlane: StartPlane): () => Promise<CarrierWorld> {
  return async () => {
    const phone = new Phone({ number: THEIRS });
    await phone.start();
    const plane = await startPlane([trunkTo(phone.hostPort(), { transfer: 'bridge' })]);
    phone.onRinging((ringing) => {
      const has = (behaviour: Behaviour) => ringing.request.uri.includes(NUMBERS[behaviour]);
      if (has('is-busy')) return ringing.reject(486);
      ringing.ring();
      if (!has('is-not-there')) void ringing.answer().then(has('hangs-up') ? leave : talk);
    });
    return {
      carrier: plane.carrier,
      place: (behaviour, ringingTimeoutMs = 10_000) =>
        plane.carrier.place({ from: OURS, to: NUMBERS[behaviour], ringingTimeoutMs }),
      ringIn: async (behaviour) => {
        const dialled = await phone.dial(`sip:${OURS}@${plane.hostPort}`);
        dialled.answered.catch(() => undefined);
        const incoming = await plane.rings.next();
        if (behaviour === 'is-not-there') dialled.invite.cancel();
        return incoming;
      },
      open: () => undefined,
      until: (promise) => promise,
      stop: async () => {
        await plane.stop();
        await phone.stop();
      },
    };
  };
}

async function talk({ line }: PhoneCall): Promise<void> {
  await line.speak(tone(300, 400));
}

async function leave(call: PhoneCall): Promise<void> {
  await wait(200);
  await call.hangUp();
}
