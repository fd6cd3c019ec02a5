import { ScaledClock } from '../../src/lib/clock.ts';
import { SandboxLeg } from '../../src/telephony/sandbox/sandbox-leg.ts';
import { type Behaviour, type CarrierWorld, describeCarrier } from './carrier.contract.ts';
import { FROM, openCarrier, settle } from './sandbox-world.ts';

/** The last two digits choose the party. */
const NUMBERS: Readonly<Record<Behaviour, string>> = {
  talks: '+12025550199',
  'is-busy': '+12025550101',
  'is-not-there': '+12025550100',
  'hangs-up': '+12025550102',
};

async function openWorld(): Promise<CarrierWorld> {
  const { carrier, clock, place } = openCarrier();
  const until: CarrierWorld['until'] = async (promise) => {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    for (await settle(); !isSettled; await settle()) clock.advance(20);
    return promise;
  };
  return {
    carrier,
    until,
    place: (behaviour, ringingTimeoutMs) => place(NUMBERS[behaviour], ringingTimeoutMs),
    ringIn: async (behaviour) => {
      const scenario = behaviour === 'talks' ? 'friendly' : 'no_answer';
      const incoming = carrier.ringIn({ from: FROM, to: NUMBERS.talks, scenario });
      // The sandbox counts time only while an answer is awaited.
      if (behaviour === 'is-not-there') void incoming.answer().catch(() => undefined);
      return incoming;
    },
    open: (leg) => {
      if (leg instanceof SandboxLeg) leg.open(new ScaledClock({ speed: 1, clock }));
    },
    stop: () => carrier.stop(),
  };
}

describeCarrier('the sandbox as a carrier', openWorld);
