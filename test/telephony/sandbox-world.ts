/** The played telephone network, in time that the test turns. */

import { ScaledClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { CarrierError, type ReleaseCause } from '../../src/telephony/carrier.ts';
import { SandboxCarrier } from '../../src/telephony/sandbox/sandbox-carrier.ts';
import { SandboxLeg } from '../../src/telephony/sandbox/sandbox-leg.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

/** Whose number the tests call from. */
export const FROM = '+12025550123';
const LONG_MS = 60_000;

async function* oneSecond() {
  yield new Int16Array(4000).fill(1000);
  yield new Int16Array(4000).fill(1000);
}

/** A played network whose voices take no time, at rest. */
export function openCarrier(speak: (text: string) => AsyncIterable<Int16Array> = oneSecond) {
  const clock = new FakeClock();
  let sids = 0;
  const newSid = () => {
    sids += 1;
    return `sid_${sids}`;
  };
  const asked: string[] = [];
  const carrier = new SandboxCarrier({
    clock,
    newSid,
    speak: (text) => {
      asked.push(text);
      return speak(text);
    },
    log: silentLogger,
  });
  const place = (to: string, ringingTimeoutMs = LONG_MS) =>
    carrier.place({ from: FROM, to, ringingTimeoutMs });
  return { clock, carrier, asked, place };
}

/** Lets what was promised happen. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The SIP status that an answer was refused with; 0 when it was not. */
export async function statusOf(answer: Promise<unknown>): Promise<number> {
  const error: unknown = await answer.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return error instanceof CarrierError ? error.sipStatus : 0;
}

/** A leg that was answered after two seconds, and whose time has begun. */
export async function openLeg(to = '+12025550103', speed = 1) {
  const world = openCarrier();
  const outgoing = world.place(to);
  const answered = outgoing.answered;
  world.clock.advance(2000);
  await settle();
  world.clock.advance(1);
  const leg = await answered;
  if (!(leg instanceof SandboxLeg)) throw new TypeError('expected a sandbox leg');
  const causes: ReleaseCause[] = [];
  leg.onReleased((cause) => causes.push(cause));
  const legClock = new ScaledClock({ speed, clock: world.clock });
  leg.open(legClock);
  return { ...world, outgoing, leg, legClock, causes };
}
