/** What every carrier does as calls see it, through the port alone: with SIP underneath, or played in this process. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  Carrier,
  IncomingCall,
  Leg,
  OutgoingCall,
  ReleaseCause,
} from '../../src/telephony/carrier.ts';

/** What the other party does. */
export type Behaviour = 'talks' | 'is-busy' | 'is-not-there' | 'hangs-up';

/** A carrier with a far end. */
export interface CarrierWorld {
  readonly carrier: Carrier;
  place(behaviour: Behaviour, ringingTimeoutMs?: number): OutgoingCall;
  /** Somebody rings in, who gives up by himself before long where he `is-not-there`. */
  ringIn(behaviour: 'talks' | 'is-not-there'): Promise<IncomingCall>;
  /** Lets an answered leg's time begin, where that is not the world's. */
  open(leg: Leg): void;
  /** Lets time go by until it is settled. */
  until<T>(promise: Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export function describeCarrier(name: string, openWorld: () => Promise<CarrierWorld>): void {
  describe(name, () => {
    let world: CarrierWorld;

    beforeEach(async () => {
      world = await openWorld();
    });
    afterEach(() => world.stop());

    const held = (leg: Leg) => {
      const causes: ReleaseCause[] = [];
      const released = new Promise<ReleaseCause>((resolve) => {
        leg.onReleased((cause) => {
          causes.push(cause);
          resolve(cause);
        });
      });
      world.open(leg);
      return { leg, causes, released };
    };
    const connect = async (behaviour: Behaviour = 'talks') => {
      const outgoing = world.place(behaviour);
      return { outgoing, ...held(await world.until(outgoing.answered)) };
    };
    const failure = (promise: Promise<unknown>) =>
      world.until(
        promise.then(
          () => undefined,
          (error: unknown) => error,
        ),
      );

    test('Carrier places a call that rings, is answered, and can be heard and spoken to', async () => {
      const outgoing = world.place('talks');
      const rung = new Promise<void>((resolve) => outgoing.onRinging(resolve));
      await world.until(rung);
      const { leg, released } = held(await world.until(outgoing.answered));
      const heard = new Promise<void>((resolve) => {
        leg.audio.onEvent(({ kind }) => kind === 'voice-started' && resolve());
      });
      const said = new Promise<number>((resolve) => {
        leg.audio.onEvent(
          (event) => event.kind === 'playout-finished' && resolve(event.generation),
        );
      });

      leg.audio.begin(7);
      leg.audio.say(7, new Int16Array(1_600).fill(3_000));
      leg.audio.finish(7);
      const generation = await world.until(said);
      await world.until(heard);
      await world.until(leg.hangUp());

      expect(generation).toBe(7);
      expect(outgoing.carrierCallSid).not.toBe('');
      expect(await released).toEqual({ kind: 'near-end' });
    });

    test.each([
      ['is-busy', undefined, 486],
      ['is-not-there', 2_000, 487],
    ] as const)('OutgoingCall to a party who %s fails', async (behaviour, ringingTimeoutMs, sipStatus) => {
      const outgoing = world.place(behaviour, ringingTimeoutMs);

      expect(await failure(outgoing.answered)).toMatchObject({ name: 'CarrierError', sipStatus });
    });

    test('OutgoingCall given up while it rings fails with 487', async () => {
      const outgoing = world.place('is-not-there');
      await world.until(new Promise<void>((resolve) => outgoing.onRinging(resolve)));

      outgoing.cancel();
      outgoing.cancel();

      expect(await failure(outgoing.answered)).toMatchObject({ sipStatus: 487 });
    });

    test('OutgoingCall given up after the answer hangs up', async () => {
      const { outgoing, released } = await connect();

      outgoing.cancel();

      expect(await world.until(released)).toEqual({ kind: 'near-end' });
    });

    test('Leg ends when the other party hangs up', async () => {
      const { leg, released } = await connect('hangs-up');
      leg.audio.begin(1);
      leg.audio.say(1, new Int16Array(8_000).fill(3_000));

      expect(await world.until(released)).toEqual({ kind: 'far-end' });
    });

    test('Leg hangs up once, and tells a listener that comes late', async () => {
      const { leg, causes } = await connect();

      await world.until(Promise.all([leg.hangUp(), leg.hangUp()]));
      await world.until(leg.hangUp());
      const late = new Promise<ReleaseCause>((resolve) => leg.onReleased(resolve));

      expect(causes).toEqual([{ kind: 'near-end' }]);
      expect(await late).toEqual({ kind: 'near-end' });
    });

    test('Leg is transferred once at a time, and cannot be transferred again once it was', async () => {
      const { leg, causes } = await connect();

      const transferred = leg.transfer('+390687654321');
      const second = await failure(leg.transfer('+390687654322'));
      await world.until(transferred);
      const third = await failure(leg.transfer('+390687654321'));
      await world.until(leg.hangUp());

      expect(second).toMatchObject({ name: 'CarrierError', sipStatus: 491 });
      expect(third).toMatchObject({ name: 'CarrierError' });
      expect(causes).toHaveLength(1);
    });

    test('Leg brings in a third party, goes on, and refuses a transfer once the agent has left', async () => {
      const { leg, causes } = await connect();

      const bringing = leg.bringIn('+390687654321');
      const second = await failure(leg.bringIn('+390687654322'));
      const threeWay = await world.until(bringing);
      const before = [...causes];
      await world.until(Promise.all([threeWay.leave(), threeWay.leave()]));
      const third = await failure(leg.bringIn('+390687654321'));
      await world.until(leg.hangUp());

      expect(before).toEqual([]);
      expect(second).toMatchObject({ name: 'CarrierError', sipStatus: 491 });
      expect(third).toMatchObject({ name: 'CarrierError' });
      expect(causes).toHaveLength(1);
    });

    test('IncomingCall is answered, and gives both numbers', async () => {
      const incoming = await world.ringIn('talks');
      incoming.ring();

      const { leg, released } = held(await world.until(incoming.answer()));
      await world.until(leg.hangUp());

      expect(incoming.from).toMatch(/^\+\d+$/);
      expect(incoming.to).toMatch(/^\+\d+$/);
      expect(incoming.carrierCallSid).not.toBe('');
      expect(await released).toEqual({ kind: 'near-end' });
    });

    test('IncomingCall that its caller has cancelled cannot be answered', async () => {
      const incoming = await world.ringIn('is-not-there');
      const cancelled = new Promise<void>((resolve) => incoming.onCancelled(resolve));

      await world.until(cancelled);

      expect(await failure(incoming.answer())).toMatchObject({ name: 'CarrierError' });
    });

    test('IncomingCall that is rejected never comes about', async () => {
      const incoming = await world.ringIn('talks');

      incoming.reject(486);

      expect(await failure(incoming.answer())).toMatchObject({ name: 'CarrierError' });
    });

    test('Carrier that stops ends what rings and what talks', async () => {
      const { released } = await connect();
      const ringing = world.place('is-not-there');
      await world.until(new Promise<void>((resolve) => ringing.onRinging(resolve)));

      const stopped = world.carrier.stop();

      expect(await failure(ringing.answered)).toMatchObject({ name: 'CarrierError' });
      expect(await world.until(released)).toEqual({ kind: 'near-end' });
      await world.until(stopped);
    });

    test('Carrier is ready, and has a line for its number', () => {
      expect(world.carrier.reports().every(({ isReady }) => isReady)).toBe(true);
    });
  });
}
