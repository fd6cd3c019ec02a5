/** Server transactions: 100 by themselves, timers G, H, I, J, L. */
import { describe, expect, test } from 'vitest';
import { idsOf, makeResponse } from '../../src/sip/message/message.ts';
import { ServerTransaction } from '../../src/sip/transaction/server-transaction.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow, request, transactionContext } from './messages.ts';

function open(method: 'INVITE' | 'INFO', protocol: 'UDP' | 'TCP' = 'UDP') {
  const clock = new FakeClock();
  const flow = new FakeFlow(protocol);
  const told: string[] = [];
  const received = request(method);
  const transaction = new ServerTransaction({
    context: transactionContext(clock),
    flow,
    request: received,
    ids: idsOf(received),
    key: 'key',
    onOver: () => told.push('over'),
  });
  transaction.delivered();
  transaction.user = { onFailure: () => told.push('failed') };
  const answer = (status: number) =>
    transaction.respond(makeResponse(received, status, undefined, 'to'));
  const repeatRequest = () => transaction.receive(received);
  const acknowledge = () => transaction.receive(request('ACK'));
  return { clock, flow, told, transaction, answer, repeatRequest, acknowledge };
}

describe('ServerTransaction of other requests', () => {
  test('answers repeats with the final response for 64*T1', () => {
    const { clock, flow, told, answer, repeatRequest } = open('INFO');

    repeatRequest();
    answer(200);
    repeatRequest();
    clock.advance(31_999);
    repeatRequest();
    clock.advance(1);

    expect(flow.sentKinds).toEqual(['200', '200', '200']);
    expect(told).toEqual(['over']);
    expect(clock.waiting).toBe(0);
  });

  test('keeps the first final response', () => {
    const { flow, answer } = open('INFO');

    answer(200);
    answer(500);

    expect(flow.sentKinds).toEqual(['200']);
  });

  test('is over with its response over TCP', () => {
    const { clock, told, answer } = open('INFO', 'TCP');

    answer(200);

    expect(told).toEqual(['over']);
    expect(clock.waiting).toBe(0);
  });

  test('does not outlive an application that never answers', () => {
    const { clock, told } = open('INFO');

    clock.advance(64_000);

    expect(told).toEqual(['over']);
  });
});

describe('ServerTransaction of INVITE', () => {
  test('sends 100 after 150 ms', () => {
    const { clock, flow } = open('INVITE');

    clock.advance(149);
    const before = [...flow.sentKinds];
    clock.advance(1);

    expect(before).toEqual([]);
    expect(flow.sentKinds).toEqual(['100']);
  });

  test('sends no 100 when the application was quicker', () => {
    const { clock, flow, answer } = open('INVITE');

    answer(180);
    clock.advance(1000);

    expect(flow.sentKinds).toEqual(['180']);
  });

  test('answers repeats with the newest provisional response', () => {
    const { flow, answer, repeatRequest } = open('INVITE');

    answer(180);
    answer(183);
    repeatRequest();

    expect(flow.sentKinds).toEqual(['180', '183', '183']);
  });

  test('repeats a refusal at T1, doubling up to T2, until the ACK', () => {
    const { clock, flow, told, answer, acknowledge } = open('INVITE');

    answer(486);
    clock.advance(11_500);
    acknowledge();
    clock.advance(4999);
    const toldBefore = [...told];
    clock.advance(1);

    // At 0, 500, 1500, 3500, 7500 and 11500 ms.
    expect(flow.sentKinds).toEqual(['486', '486', '486', '486', '486', '486']);
    expect(toldBefore).toEqual([]);
    expect(told).toEqual(['over']);
    expect(clock.waiting).toBe(0);
  });

  test('gives a refusal up after 64*T1 without ACK', () => {
    const { clock, told, answer } = open('INVITE');

    answer(486);
    clock.advance(32_000);

    expect(told).toEqual(['over', 'failed']);
    expect(clock.waiting).toBe(0);
  });

  test('leaves the repeating of a 2xx to its user and absorbs the INVITE for 64*T1', () => {
    const { clock, flow, told, transaction, answer, repeatRequest } = open('INVITE');

    answer(200);
    clock.advance(10_000);
    repeatRequest();
    transaction.repeat();
    clock.advance(22_000);

    expect(flow.sentKinds).toEqual(['200', '200']);
    expect(told).toEqual(['over']);
    expect(clock.waiting).toBe(0);
  });

  test('repeats no 2xx that is acknowledged', () => {
    const { flow, transaction, answer } = open('INVITE');
    answer(200);

    transaction.acknowledged();
    transaction.repeat();

    expect(flow.sentKinds).toEqual(['200']);
  });

  test('tells its user when the connection is lost while it rings', () => {
    const { clock, flow, told, answer } = open('INVITE', 'TCP');

    answer(180);
    flow.close();

    expect(told).toEqual(['over', 'failed']);
    expect(clock.waiting).toBe(0);
  });
});
