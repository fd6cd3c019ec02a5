/** A leg whose far end moves the call: what crosses, what fails, and what is lost on the way. */
import { expect, test } from 'vitest';
import { CarrierError, type IncomingRefer } from '../../src/telephony/carrier.ts';
import type { SrfLeg, SrfLegOptions } from '../../src/telephony/drachtio/leg/srf-leg.ts';
import { trunkTo } from './plane.ts';
import { COLLEAGUE, openLeg } from './scripted-pair.ts';
import { settle } from './scripted-srf.ts';

const THERE = { 'Refer-To': `<sip:${COLLEAGUE}@127.0.0.1>`, CSeq: '7 REFER' };

/** A leg of a trunk that accepts transfers, and the call in its far end's place. */
function openMoved(options: Partial<SrfLegOptions> = {}, statusOf?: (method: string) => number) {
  const answer = Promise.withResolvers<SrfLeg>();
  answer.promise.catch(() => undefined);
  const placed: string[] = [];
  let isCancelled = false;
  const trunk = trunkTo('127.0.0.1:5080', { acceptTransfers: true });
  const callInPlace = (number: string) => {
    placed.push(number);
    return {
      answered: answer.promise,
      cancel: () => {
        isCancelled = true;
        answer.reject(new CarrierError('cancelled', 487));
      },
    };
  };
  const accepted = { acceptedTransfers: { trunk, callInPlace } };
  const first = openLeg({ ...accepted, ...options }, statusOf ?? (() => 200));
  const next = openLeg({ ...accepted, endpoint: first.endpoint, isInPlace: true }, () => 200);
  const refers: IncomingRefer[] = [];
  first.leg.onRefer((refer) => refers.push(refer));
  const follow = () =>
    refers
      .at(-1)
      ?.follow()
      .catch((error: unknown) => error);
  return { ...first, next, answer, placed, refers, follow, isCancelled: () => isCancelled };
}

const methodsOf = ({ dialog }: Pick<ReturnType<typeof openLeg>, 'dialog'>) =>
  dialog.sent.map(({ method }) => method);

test('SrfLeg refuses a REFER that comes from an address which is not of its trunk', () => {
  const trunk = trunkTo('192.0.2.1', { acceptTransfers: true, allowedSources: ['192.0.2.1'] });
  const callInPlace = () => expect.fail('nothing may be called');
  const { dialog, refers } = openMoved({ acceptedTransfers: { trunk, callInPlace } });

  const answer = dialog.receive('refer', { headers: THERE });

  expect([answer.sent?.status, refers]).toEqual([403, []]);
});

test('SrfLeg refuses a REFER with 500 where nothing decides about it within 10 s', () => {
  const { dialog, clock, refers, placed } = openMoved();

  const answer = dialog.receive('refer', { headers: THERE });
  clock.advance(9_999);
  const before = answer.sent;
  clock.advance(1);
  void refers[0]?.follow().catch(() => undefined);

  expect([before, answer.sent?.status, placed]).toEqual([undefined, 500, []]);
});

test('SrfLeg refuses a REFER with 603 where nothing listens', () => {
  const trunk = trunkTo('127.0.0.1:5080', { acceptTransfers: true });
  const callInPlace = () => expect.fail('nothing may be called');
  const { dialog } = openLeg({ acceptedTransfers: { trunk, callInPlace } });

  expect(dialog.receive('refer', { headers: THERE }).sent?.status).toBe(603);
});

test('SrfLeg names the REFER in NOTIFYs from the second one on', async () => {
  const { dialog, follow, answer } = openMoved();
  answer.reject(new CarrierError('busy', 486, { refusedWith: 486 }));

  dialog.receive('refer', { headers: THERE });
  await follow();
  dialog.receive('refer', { headers: { ...THERE, CSeq: '9 REFER' } });
  await follow();
  await settle();

  expect(dialog.sent.map(({ headers }) => headers?.Event)).toEqual([
    'refer',
    'refer',
    'refer;id=9',
    'refer;id=9',
  ]);
  expect(dialog.sent[1]).toMatchObject({
    headers: { 'Subscription-State': 'terminated;reason=noresource' },
    body: 'SIP/2.0 486 Busy Here\r\n',
  });
});

test('SrfLeg goes on with the next party where the far end answers no NOTIFY', async () => {
  const never = new Promise<never>(() => undefined);
  const moved = openMoved();
  moved.dialog.request = (options) => {
    moved.dialog.sent.push(options);
    return never;
  };

  moved.dialog.receive('refer', { headers: THERE });
  void moved.follow();
  moved.answer.resolve(moved.next.leg);
  for (let seconds = 0; seconds < 8; seconds += 1) {
    await settle();
    moved.clock.advance(1_000);
  }
  await settle();
  const during = [...moved.causes];
  await moved.leg.hangUp();

  expect(methodsOf(moved)).toEqual(['NOTIFY', 'NOTIFY', 'BYE']);
  expect([during, moved.causes]).toEqual([[], [{ kind: 'near-end' }]]);
  expect(methodsOf(moved.next)).toEqual(['BYE']);
});

test('SrfLeg takes silence for no loss while its far end moves the call', async () => {
  const moved = openMoved();
  const events: string[] = [];
  moved.leg.audio.onEvent(({ kind }) => events.push(kind));
  moved.dialog.receive('refer', { headers: THERE });
  void moved.follow();
  moved.dialog.receive('destroy');

  moved.endpoint.report({ kind: 'media-lost' });
  const during = [...moved.causes];
  moved.answer.resolve(moved.next.leg);
  await settle();
  moved.endpoint.report({ kind: 'media-lost' });
  await settle();

  expect([during, events]).toEqual([[], ['media-lost']]);
  expect(moved.causes).toEqual([{ kind: 'broken', reason: 'no audio comes' }]);
  expect(moved.endpoint.isClosed).toBe(true);
});

test('SrfLeg cancels the call in its far end’s place when it is hung up, and closes its endpoint', async () => {
  const moved = openMoved();
  moved.dialog.receive('refer', { headers: THERE });
  const followed = moved.follow();
  moved.dialog.receive('destroy');
  await settle();

  await moved.leg.hangUp();

  expect(await followed).toMatchObject({ sipStatus: 487 });
  expect([moved.isCancelled(), moved.endpoint.isClosed]).toEqual([true, true]);
  expect(moved.causes).toEqual([{ kind: 'far-end' }]);
});

test('SrfLeg is no third party’s while its far end moves the call, and reports keys of the next party once', async () => {
  const moved = openMoved();
  const digits: string[] = [];
  moved.leg.onDigit((digit) => digits.push(digit));
  moved.dialog.receive('refer', { headers: THERE });
  const refused = [moved.leg.transfer(COLLEAGUE), moved.leg.bringIn(COLLEAGUE)];
  const statuses = await Promise.all(
    refused.map((each) => each.catch(({ sipStatus }: CarrierError) => sipStatus)),
  );
  void moved.follow();
  moved.answer.resolve(moved.next.leg);
  await settle();

  moved.next.dialog.receive('info', {
    headers: { 'Content-Type': 'application/dtmf-relay' },
    body: 'Signal=5\r\n',
  });
  moved.endpoint.report({ kind: 'digit', digit: '5', durationMs: 100 });

  expect([statuses, digits]).toEqual([[491, 491], ['5']]);
});

test('SrfLeg waits for the party that replaces its far end, which may hang up first', async () => {
  const moved = openMoved();

  const replaced = moved.leg.replace(() => moved.answer.promise);
  const second = moved.leg.replacementRefusal;
  moved.dialog.receive('destroy');
  await settle();
  const during = [...moved.causes];
  moved.answer.resolve(moved.next.leg);
  await replaced;
  await moved.leg.hangUp();

  expect([second, during]).toEqual([491, []]);
  expect(methodsOf(moved)).toEqual([]);
  expect(methodsOf(moved.next)).toEqual(['BYE']);
  expect(moved.endpoint.isClosed).toBe(true);
});

test('SrfLeg restores its far end where the party that replaces it fails', async () => {
  const moved = openMoved();
  await moved.endpoint.negotiate('their description');

  const replaced = moved.leg.replace(async () => {
    await moved.endpoint.negotiate('another one’s');
    throw new CarrierError('no ACK', 487);
  });

  await expect(replaced).rejects.toThrow('no ACK');
  expect(moved.endpoint.negotiated).toEqual([
    'their description',
    'another one’s',
    'their description',
  ]);
  expect([moved.leg.replacementRefusal, moved.causes]).toEqual([undefined, []]);
});

test('SrfLeg that was hung up meanwhile ends the party that replaces its far end', async () => {
  const moved = openMoved();
  const replaced = moved.leg.replace(() => moved.answer.promise).catch((error: unknown) => error);

  const ended = moved.leg.hangUp();
  moved.answer.resolve(moved.next.leg);
  await ended;

  expect(await replaced).toMatchObject({ sipStatus: 487 });
  expect([methodsOf(moved), methodsOf(moved.next)]).toEqual([['BYE'], ['BYE']]);
  expect([moved.causes, moved.endpoint.isClosed]).toEqual([[{ kind: 'near-end' }], true]);
});

test('SrfLeg closes no endpoint that is another leg’s', async () => {
  const { next, endpoint } = openMoved();

  await next.leg.hangUp();

  expect(endpoint.isClosed).toBe(false);
});

test('SrfLeg is moved sixteen times at most', async () => {
  const { leg, dialog } = openMoved();
  leg.takeEndpoint(15);
  const before = leg.replacementRefusal;

  leg.takeEndpoint(16);

  expect([before, leg.replacementRefusal]).toEqual([undefined, 603]);
  expect(dialog.receive('refer', { headers: THERE }).sent?.status).toBe(603);
});
