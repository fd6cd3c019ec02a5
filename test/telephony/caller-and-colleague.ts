/** A caller, a colleague, and the carrier plane between them, new for each contract test. */
import { afterEach, beforeEach } from 'vitest';
import { Phone, type RingingCall } from '../../examples/phone/phone.ts';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import { OURS, type Plane, type StartPlane, THEIRS, trunkTo } from './plane.ts';

export const COLLEAGUE = '+390687654321';

/** To be called where the tests are described. */
export function callerAndColleague(startPlane: StartPlane) {
  let caller: Phone;
  let colleague: Phone;
  let plane: Plane;

  beforeEach(async () => {
    [caller, colleague] = [new Phone({ number: THEIRS }), new Phone({ number: COLLEAGUE })];
    await Promise.all([caller.start(), colleague.start()]);
  });
  afterEach(async () => {
    await plane.stop();
    await Promise.all([caller.stop(), colleague.stop()]);
  });

  return {
    /** Of the test under way, once it has connected a call. */
    plane: () => plane,

    /** A call that has been answered, on a trunk whose other end is the colleague's telephone. */
    async connect(fields: object = {}, codecs = ['PCMU', 'PCMA']) {
      plane = await startPlane([
        trunkTo('127.0.0.1', { name: 'in', numbers: [], ...fields }),
        trunkTo(colleague.hostPort(), { name: 'out', allowedSources: [], codecs, ...fields }),
      ]);
      const [call, leg] = await Promise.all([
        caller.call(`sip:${OURS}@${plane.hostPort}`),
        plane.rings.next().then((incoming) => incoming.answer()),
      ]);
      /** Why the leg was released, each time that it was told. */
      const causes: ReleaseCause[] = [];
      leg.onReleased((cause) => causes.push(cause));
      /** Methods of the requests that the caller's telephone was sent in the dialog. */
      const asked: string[] = [];
      call.dialog.on('request', ({ request }) => asked.push(request.method));
      return { call, leg, causes, asked };
    },

    /** The next call that the colleague's telephone rings for. */
    ringing: () => new Promise<RingingCall>((resolve) => colleague.onRinging(resolve)),

    /** The colleague rejects every incoming call as busy. */
    beBusy: () => colleague.onRinging(({ reject }) => reject(486)),
  };
}
