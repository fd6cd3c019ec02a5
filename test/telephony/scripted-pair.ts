/** Two answered calls over a scripted drachtio-srf, the second of which the first can be put through to. */
import { silentLogger } from '../../src/lib/logger.ts';
import { CarrierError, type ReleaseCause } from '../../src/telephony/carrier.ts';
import { openSrf } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfLeg, type SrfLegOptions } from '../../src/telephony/drachtio/leg/srf-leg.ts';
import type { SecondLeg } from '../../src/telephony/drachtio/transfer/transfer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { PlainEndpoint, response, ScriptedDialog } from './scripted-srf.ts';

export const COLLEAGUE = '+390687654321';

/** A second call that the test answers or refuses. */
export class ScriptedSecond {
  readonly answer = Promise.withResolvers<SecondLeg>();
  readonly answered = this.answer.promise;
  isCancelled = false;
  ring: () => void = () => undefined;

  onRinging(listener: () => void): void {
    this.ring = listener;
  }

  cancel(): void {
    this.isCancelled = true;
    this.answer.reject(new CarrierError('cancelled', 487));
  }
}

export function openLeg(
  options: Partial<SrfLegOptions>,
  statusOf = (method: string) => 200 + method.length,
) {
  const clock = new FakeClock();
  const endpoint = new PlainEndpoint();
  const dialog = new ScriptedDialog(async ({ method }) => response(statusOf(method)));
  const causes: ReleaseCause[] = [];
  const leg = new SrfLeg({
    ...{ srf: openSrf(), endpoint, dialog, clock, log: silentLogger },
    ...{ referDomain: 'carrier.example', isAnswerAwaited: false, onOver: () => undefined },
    ...options,
  });
  leg.onReleased((cause) => causes.push(cause));
  return { clock, dialog, endpoint, leg, causes };
}

export function openPair(options: Partial<SrfLegOptions> = {}, refusal = 405) {
  const seconds: ScriptedSecond[] = [];
  const callSecond = () => {
    const second = new ScriptedSecond();
    seconds.push(second);
    return second;
  };
  const first = openLeg({ callSecond, ...options }, (method) =>
    method === 'REFER' ? refusal : 200,
  );
  const other = openLeg({}, () => 200);
  const methods = ({ dialog }: { readonly dialog: ScriptedDialog }) =>
    dialog.sent.map(({ method }) => method);
  return { first, other, seconds, methods };
}
