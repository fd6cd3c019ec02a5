/** Client transactions: timers A, B, D, E, F, K, M and what the user is told. */
import { describe, expect, test } from 'vitest';
import { ClientTransaction } from '../../src/sip/transaction/client-transaction.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow, request, responseTo, transactionContext } from './messages.ts';

function start(method: 'INVITE' | 'OPTIONS', protocol: 'UDP' | 'TCP' = 'UDP') {
  const clock = new FakeClock();
  const flow = new FakeFlow(protocol);
  const told: string[] = [];
  const sent = request(method);
  const options = {
    context: transactionContext(clock),
    flow,
    request: sent,
    user: {
      onResponse: ({ status }: { status: number }) => told.push(String(status)),
      onTimeout: () => told.push('timeout'),
      onTransportError: () => told.push('lost'),
    },
    onOver: () => told.push('over'),
  };
  const transaction = new ClientTransaction(options);
  transaction.start();
  const answer = (status: number) => transaction.receive(responseTo(sent, status));
  return { clock, flow, told, transaction, answer };
}

/** When the messages went out, in steps of 100 ms. */
function sendingTimesMs(clock: FakeClock, flow: FakeFlow, untilMs: number): number[] {
  const times: number[] = [];
  for (let atMs = 0; atMs <= untilMs; atMs += 100) {
    if (atMs > 0) clock.advance(100);
    while (times.length < flow.sent.length) times.push(atMs);
  }
  return times;
}

describe('ClientTransaction of other requests', () => {
  test('repeats over UDP at T1, doubling up to T2, and gives up at 64*T1', () => {
    const { clock, flow, told } = start('OPTIONS');

    const times = sendingTimesMs(clock, flow, 32_000);

    expect(times.slice(0, 7)).toEqual([0, 500, 1500, 3500, 7500, 11_500, 15_500]);
    expect(times).toHaveLength(11);
    expect(told).toEqual(['over', 'timeout']);
    expect(clock.waiting).toBe(0);
  });

  test('repeats at T2 once a provisional response is there', () => {
    const { clock, flow, answer } = start('OPTIONS');
    clock.advance(100);

    answer(100);

    expect(sendingTimesMs(clock, flow, 9000)).toEqual([0, 400, 4400, 8400]);
  });

  test('tells a final response once and swallows repeats for T4', () => {
    const { clock, flow, told, answer } = start('OPTIONS');

    answer(200);
    answer(200);
    clock.advance(4999);
    const toldBefore = [...told];
    clock.advance(1);

    expect(toldBefore).toEqual(['200']);
    expect(told).toEqual(['200', 'over']);
    expect(flow.sent).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });

  test('sends once over TCP and is over with the final response', () => {
    const { clock, flow, told, answer } = start('OPTIONS', 'TCP');

    clock.advance(31_000);
    answer(200);

    expect(flow.sent).toHaveLength(1);
    expect(told).toEqual(['over', '200']);
    expect(clock.waiting).toBe(0);
  });

  test('tells at once when its connection is lost', () => {
    const { clock, flow, told } = start('OPTIONS', 'TCP');

    flow.close();

    expect(told).toEqual(['over', 'lost']);
    expect(clock.waiting).toBe(0);
  });
});

describe('ClientTransaction of INVITE', () => {
  test('repeats over UDP with doubling waits and gives up at 64*T1', () => {
    const { clock, flow, told } = start('INVITE');

    const times = sendingTimesMs(clock, flow, 32_000);

    expect(times).toEqual([0, 500, 1500, 3500, 7500, 15_500, 31_500]);
    expect(told).toEqual(['over', 'timeout']);
    expect(clock.waiting).toBe(0);
  });

  test('waits without limit once a provisional response is there', () => {
    const { clock, flow, told, answer } = start('INVITE');

    answer(180);
    clock.advance(600_000);

    expect(flow.sent).toHaveLength(1);
    expect(told).toEqual(['180']);
  });

  test('acknowledges every repeat of a refusal for 64*T1', () => {
    const { clock, flow, told, answer } = start('INVITE');

    answer(486);
    clock.advance(31_999);
    answer(486);
    clock.advance(1);
    answer(486);

    expect(flow.sentKinds).toEqual(['INVITE', 'ACK', 'ACK']);
    expect(told).toEqual(['486', 'over']);
    expect(clock.waiting).toBe(0);
  });

  test("acknowledges with the INVITE's Via, From and number and the response's To", () => {
    const { flow, answer } = start('INVITE');

    answer(486);

    const [invite, ack] = flow.sent;
    expect(ack?.get('via')).toBe(invite?.get('via'));
    expect(ack?.get('from')).toBe(invite?.get('from'));
    expect(ack?.get('to')).toBe('<sip:agent@192.0.2.2>;tag=to');
    expect(ack?.get('cseq')).toBe('1 ACK');
  });

  test('tells every 2xx for 64*T1 and sends no ACK itself', () => {
    const { clock, flow, told, answer } = start('INVITE');

    answer(200);
    clock.advance(31_999);
    answer(200);
    clock.advance(1);
    answer(200);

    expect(flow.sentKinds).toEqual(['INVITE']);
    expect(told).toEqual(['200', '200', 'over']);
  });

  test('is over with the refusal over TCP', () => {
    const { clock, flow, told, answer } = start('INVITE', 'TCP');

    answer(486);

    expect(flow.sentKinds).toEqual(['INVITE', 'ACK']);
    expect(told).toEqual(['over', '486']);
    expect(clock.waiting).toBe(0);
  });

  test('abort tells a waiting user of the loss, and one that has its answer nothing', () => {
    const waiting = start('INVITE');
    const answered = start('INVITE');
    answered.answer(200);

    waiting.transaction.abort();
    answered.transaction.abort();

    expect(waiting.told).toEqual(['over', 'lost']);
    expect(answered.told).toEqual(['200', 'over']);
    expect(waiting.clock.waiting + answered.clock.waiting).toBe(0);
  });
});
