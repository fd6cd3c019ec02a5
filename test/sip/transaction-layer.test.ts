/** TransactionLayer: which message belongs to which transaction, and what belongs to none. */
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { makeResponse, type SipMessage } from '../../src/sip/message/message.ts';
import { Tokens } from '../../src/sip/own-messages.ts';
import { type Arrival, TransactionLayer } from '../../src/sip/transaction/transaction-layer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow, request, responseTo, transactionContext } from './messages.ts';

/** A layer with one flow to one peer. */
function world(transactionsMax = 100) {
  const clock = new FakeClock();
  const flow = new FakeFlow();
  const context = transactionContext(clock);
  const { stats } = context;
  const arrivals: Arrival[] = [];
  const acks: SipMessage[] = [];
  let byte = 0;
  const layer = new TransactionLayer({
    context,
    transport: {
      responseFlow: () => flow,
      replyStateless: (refused, _via, _flow, { status }) =>
        flow.send(makeResponse(refused, status, undefined, 'stateless').toBuffer()),
    },
    tokens: new Tokens((count) => new Uint8Array(count).map(() => byte++)),
    logger: silentLogger,
    transactionsMax,
    onRequest: (arrival) => arrivals.push(arrival),
    onAck: (ack) => acks.push(ack) > 0,
  });
  const receive = (message: SipMessage, from = flow) =>
    layer.receiveRequest(message, message.via, from);
  const answer = (status: number, index = 0) => {
    const arrival = arrivals[index];
    arrival?.transaction.respond(makeResponse(arrival.request, status, undefined, 'to'));
  };
  return { clock, flow, stats, arrivals, acks, layer, receive, answer };
}

const VIA_TWO = { Via: 'SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKtwo;rport' };
const VIA_OLD = { Via: 'SIP/2.0/UDP 192.0.2.1:5060' };

test('TransactionLayer delivers a repeated request once', () => {
  const { arrivals, receive } = world();

  receive(request('INVITE'));
  receive(request('INVITE'));

  expect(arrivals).toHaveLength(1);
});

test('TransactionLayer tells RFC 2543 requests apart by call, tag and number', () => {
  const { arrivals, receive } = world();

  receive(request('INFO', { ...VIA_OLD, CSeq: '1 INFO' }));
  receive(request('INFO', { ...VIA_OLD, CSeq: '1 INFO' }));
  receive(request('INFO', { ...VIA_OLD, CSeq: '2 INFO' }));
  receive(request('INFO', { ...VIA_OLD, CSeq: '1 INFO', 'Call-ID': 'call-2' }));

  expect(arrivals).toHaveLength(3);
});

test('TransactionLayer refuses with 482 what came before by another way', () => {
  const { arrivals, flow, receive } = world();

  receive(request('INVITE'));
  receive(request('INVITE', VIA_TWO));

  expect(arrivals).toHaveLength(1);
  expect(flow.sentKinds).toEqual(['482']);
});

test('TransactionLayer takes the same number again when the first transaction is over', () => {
  const { arrivals, clock, receive, answer } = world();

  receive(request('INFO'));
  answer(200);
  clock.advance(32_000);
  receive(request('INFO', VIA_TWO));

  expect(arrivals).toHaveLength(2);
});

test('TransactionLayer hands a CANCEL to its INVITE and answers it with 200', () => {
  const { arrivals, flow, receive } = world();
  let cancelled = 0;
  receive(request('INVITE'));
  for (const { transaction } of arrivals) transaction.user = { onCancel: () => cancelled++ };

  receive(request('CANCEL'));
  receive(request('CANCEL'));

  expect(cancelled).toBe(1);
  expect(flow.sentKinds).toEqual(['200', '200']);
});

test.each([
  ['no INVITE', { Via: 'SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKnone;rport' }],
  ['another From tag', { From: '<sip:caller@192.0.2.1>;tag=guess' }],
  ['another Call-ID', { 'Call-ID': 'guess' }],
])('TransactionLayer refuses a CANCEL with %s', (_, headers) => {
  const { arrivals, flow, receive } = world();
  let cancelled = 0;
  receive(request('INVITE'));
  for (const { transaction } of arrivals) transaction.user = { onCancel: () => cancelled++ };

  receive(request('CANCEL', headers));

  expect(cancelled).toBe(0);
  expect(flow.sentKinds).toEqual(['481']);
});

test('TransactionLayer refuses a CANCEL from another address', () => {
  const { flow, receive } = world();
  const stranger = Object.assign(new FakeFlow(), {
    remote: { address: '203.0.113.9', port: 5060 },
  });
  receive(request('INVITE'));

  receive(request('CANCEL'), stranger);

  expect(flow.sentKinds).toEqual(['481']);
});

test('TransactionLayer answers a CANCEL behind the final response with 200 and does no more', () => {
  const { arrivals, flow, receive, answer } = world();
  let cancelled = 0;
  receive(request('INVITE'));
  for (const { transaction } of arrivals) transaction.user = { onCancel: () => cancelled++ };
  answer(200);

  receive(request('CANCEL'));

  expect(cancelled).toBe(0);
  expect(flow.sentKinds).toEqual(['200', '200']);
});

test('TransactionLayer keeps the ACK of a refusal and passes on the ACK of a 2xx', () => {
  const refused = world();
  const accepted = world();
  refused.receive(request('INVITE'));
  refused.answer(486);
  accepted.receive(request('INVITE', VIA_OLD));
  accepted.answer(200);

  refused.receive(request('ACK'));
  accepted.receive(request('ACK', VIA_OLD));
  accepted.receive(request('ACK', { ...VIA_TWO, To: '<sip:agent@192.0.2.2>;tag=to' }));

  expect(refused.acks).toHaveLength(0);
  expect(accepted.acks).toHaveLength(2);
});

test('TransactionLayer refuses with 503 when there are too many transactions', () => {
  const { arrivals, flow, layer, receive } = world(1);

  receive(request('INFO'));
  receive(request('INFO', { ...VIA_TWO, 'Call-ID': 'call-2' }));

  expect(arrivals).toHaveLength(1);
  expect(flow.sentKinds).toEqual(['503']);
  expect(layer.size).toBe(1);
});

test('TransactionLayer answers 500 when the listener throws, and goes on', () => {
  const { arrivals, flow, receive } = world();
  const push = arrivals.push.bind(arrivals);
  arrivals.push = () => {
    throw new Error('listener is broken');
  };
  receive(request('INFO'));
  arrivals.push = push;

  receive(request('INFO', { ...VIA_TWO, 'Call-ID': 'call-2' }));

  expect(flow.sentKinds).toEqual(['500']);
  expect(arrivals).toHaveLength(1);
});

test('TransactionLayer drops and counts responses that belong to no transaction', () => {
  const { flow, layer, stats } = world();
  const told: number[] = [];
  const sent = request('OPTIONS');
  layer.send(sent, flow, {
    onResponse: ({ status }) => told.push(status),
    onTimeout: () => undefined,
    onTransportError: () => undefined,
  });

  for (const forged of [
    responseTo(sent, 200, { Via: 'SIP/2.0/UDP 192.0.2.2:5060;branch=z9hG4bKguess' }),
    responseTo(sent, 200, { CSeq: '1 INVITE' }),
    responseTo(sent, 200, { Via: `${sent.get('via')}, SIP/2.0/UDP 203.0.113.9` }),
  ]) {
    layer.receiveResponse(forged, forged.via);
  }
  const genuine = responseTo(sent, 202);
  layer.receiveResponse(genuine, genuine.via);

  expect(told).toEqual([202]);
  expect(stats.counts.dropped['stray-response']).toBe(3);
});

test('TransactionLayer ends all transactions when it stops', () => {
  const { clock, flow, layer, receive } = world();
  let lost = 0;
  receive(request('INVITE'));
  layer.send(request('OPTIONS'), flow, {
    onResponse: () => undefined,
    onTimeout: () => undefined,
    onTransportError: () => lost++,
  });

  layer.stop();

  expect(layer.size).toBe(0);
  expect(lost).toBe(1);
  expect(clock.waiting).toBe(0);
});
