/** Provisional responses that wait for their PRACK: one at a time, repeated, and given up. RFC 3262, 3. */
import { expect, test } from 'vitest';
import { makeResponse, type SipMessage } from '../../src/sip/message/message.ts';
import { ReliableProvisionals } from '../../src/sip/transaction/reliable-responses.ts';
import { STANDARD_TIMERS } from '../../src/sip/transaction/timers.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request } from './messages.ts';

function open() {
  const clock = new FakeClock();
  const sent: string[] = [];
  let timeouts = 0;
  const reliable = new ReliableProvisionals({
    ...{ clock, timers: STANDARD_TIMERS, firstSequence: 7, cseq: '1  INVITE' },
    send: (response) => sent.push(`${response.status} ${response.get('rseq')}`),
    onTimeout: () => {
      timeouts += 1;
    },
  });
  const progress = (status: number) =>
    reliable.send(makeResponse(request('INVITE'), status, undefined, 'tag'));
  const prack = (rack: string) => reliable.receive(request('PRACK', { RAck: rack }));
  return { clock, sent, reliable, progress, prack, timeouts: () => timeouts };
}

test('ReliableProvisionals sends the next one when the one before is confirmed', async () => {
  const { clock, sent, progress, prack } = open();
  const first = progress(183);
  const second = progress(180);
  const before = [...sent];

  const isTaken = prack('7 1 INVITE');
  const after = [...sent];
  prack('8 1 INVITE');

  expect([before, isTaken, after]).toEqual([['183 7'], true, ['183 7', '180 8']]);
  expect(await first).toMatchObject({ method: 'PRACK' });
  expect(await second).toMatchObject({ method: 'PRACK' });
  expect(clock.waiting).toBe(0);
});

test.each([
  '8 1 INVITE',
  '7 2 INVITE',
  '7 1 BYE',
  '7',
  '',
])('ReliableProvisionals is not confirmed by "%s"', (rack) => {
  const { progress, prack } = open();
  void progress(183);

  expect(prack(rack)).toBe(false);
});

test('ReliableProvisionals takes no PRACK where nothing waits for one', () => {
  expect(open().prack('7 1 INVITE')).toBe(false);
});

test('ReliableProvisionals repeats one, each time after twice as long, until its PRACK comes', () => {
  const { clock, sent, progress, prack } = open();
  void progress(183);
  clock.advance(500);
  clock.advance(1000);
  const repeated = sent.length;

  prack('7 1 INVITE');
  clock.advance(60_000);

  expect([repeated, sent.length, clock.waiting]).toEqual([3, 3, 0]);
});

test('ReliableProvisionals gives up after 64*T1, and says so once', async () => {
  const { clock, sent, progress, timeouts } = open();
  const first = progress(183);
  const second = progress(180);

  clock.advance(32_000);
  const count = sent.length;
  clock.advance(100_000);

  expect([await first, await second, timeouts()]).toEqual([null, null, 1]);
  expect([sent.length, clock.waiting]).toEqual([count, 0]);
  expect(await progress(182)).toBeNull();
  expect(sent).toHaveLength(count);
});

test('ReliableProvisionals calls who waits for it when all is confirmed, or at once', () => {
  const { reliable, progress, prack } = open();
  const called: string[] = [];
  reliable.whenConfirmed(() => called.push('at once'));
  void progress(183);
  void progress(180);
  reliable.whenConfirmed(() => called.push('later'));
  prack('7 1 INVITE');
  const before = [...called];

  prack('8 1 INVITE');

  expect([before, called]).toEqual([['at once'], ['at once', 'later']]);
});

test('ReliableProvisionals that is stopped sends, confirms and calls nothing more', async () => {
  const { clock, sent, reliable, progress, prack, timeouts } = open();
  const called: string[] = [];
  const first: Promise<SipMessage | null> = progress(183);
  reliable.whenConfirmed(() => called.push('later'));

  reliable.stop();
  reliable.stop();
  clock.advance(100_000);

  expect(await first).toBeNull();
  expect([prack('7 1 INVITE'), called, timeouts(), sent.length]).toEqual([false, [], 0, 1]);
});

test('ReliableProvisionals holds sixteen, and refuses the next', () => {
  const { progress } = open();
  for (let count = 0; count < 16; count++) void progress(183);

  expect(() => progress(183)).toThrow(RangeError);
});
