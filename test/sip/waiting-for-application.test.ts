/** Requests and calls that wait for the application: time limit, number, and outcome. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import {
  type ApplicationLink,
  type Delivery,
  parseApplicationMessage,
} from '../../src/sip/drachtio-server/application-connection.ts';
import {
  type DialogRegister,
  IncomingCalls,
  PendingRequests,
} from '../../src/sip/drachtio-server/dialog-register.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { ResponseParts, ServerRequest } from '../../src/sip/own-messages.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { FakeFlow, request } from './messages.ts';

const parse = (...lines: readonly string[]) =>
  parseApplicationMessage(Buffer.from(lines.join('\r\n')));

function openLink() {
  const delivered: Delivery[] = [];
  const confirmed: (Delivery & { readonly commandId: string })[] = [];
  const link = {
    deliver: (delivery: Delivery) => delivered.push(delivery),
    confirm: (commandId: string, delivery: Delivery) => confirmed.push({ commandId, ...delivery }),
  } as unknown as ApplicationLink;
  return { link, delivered, confirmed };
}

function openPending() {
  const clock = new FakeClock();
  const { link, delivered, confirmed } = openLink();
  const pending = new PendingRequests({ link, clock });
  const answered: string[] = [];
  const deliver = (name = 'INFO') => {
    const info = request(name);
    const respond = (status: number, parts?: ResponseParts) => {
      answered.push(`${status} ${JSON.stringify(parts?.headers ?? {})}`);
      return info;
    };
    const taken: ServerRequest = { request: info, flow: new FakeFlow(), respond };
    pending.deliver(taken, 'dialog');
    return delivered.at(-1)?.transactionId ?? '';
  };
  return { clock, pending, delivered, confirmed, answered, deliver };
}

test('PendingRequests sends the answer of the application and tells that it did', () => {
  const { clock, pending, delivered, confirmed, answered, deliver } = openPending();
  const transactionId = deliver();

  const isTaken = pending.answer('command', transactionId, parse('SIP/2.0 200 OK', 'X-A: b'));

  expect(isTaken).toBe(true);
  expect(answered).toEqual(['200 {"x-a":["b"]}']);
  expect(delivered).toMatchObject([{ transactionId, dialogId: 'dialog' }]);
  expect(confirmed).toMatchObject([{ commandId: 'command', transactionId, dialogId: 'dialog' }]);
  expect([pending.size, clock.waiting]).toEqual([0, 0]);
});

test.each([
  [199, 1],
  [200, 0],
])('PendingRequests waits on after %d: %d', (status, size) => {
  const { pending, deliver } = openPending();
  const transactionId = deliver();

  pending.answer('command', transactionId, parse(`SIP/2.0 ${status} Whatever`));

  expect(pending.size).toBe(size);
  expect(pending.answer('command', transactionId, parse('SIP/2.0 500 No'))).toBe(size === 1);
});

test('PendingRequests refuses what the application does not answer in half a minute', () => {
  const { clock, pending, answered, deliver } = openPending();
  deliver();

  clock.advance(29_999);
  const before = [...answered];
  clock.advance(1);

  expect([before, answered, pending.size]).toEqual([[], ['500 {}'], 0]);
});

test('PendingRequests refuses all that waits when the application is gone', () => {
  const { clock, pending, answered, deliver } = openPending();
  deliver();
  deliver();

  pending.refuseAll();
  pending.refuseAll();

  expect(answered).toEqual(['500 {}', '500 {}']);
  expect([pending.size, clock.waiting]).toEqual([0, 0]);
});

test('PendingRequests holds ten thousand and turns the next away', () => {
  const { pending, answered, deliver } = openPending();
  for (let count = 0; count < 10_000; count++) deliver();
  const before = answered.length;

  deliver();

  expect([before, answered, pending.size]).toEqual([0, ['503 {"retry-after":"10"}'], 10_000]);
});

/** An INVITE of a peer that notes what is done with it. */
class FakeInvite extends EventEmitter {
  readonly did: string[] = [];
  readonly flow = new FakeFlow();
  readonly dialog = {};
  readonly request: SipMessage;

  constructor(invite: SipMessage) {
    super();
    this.request = invite;
  }

  chooseTag(tag: string): void {
    this.did.push(`tag ${tag}`);
  }

  reject(status: number, parts?: ResponseParts): SipMessage {
    this.did.push(`reject ${status} ${JSON.stringify(parts?.headers ?? {})}`);
    return this.request;
  }

  accept(): { message: SipMessage } {
    this.did.push('accept');
    return { message: this.request };
  }

  trying(): SipMessage {
    this.did.push('trying');
    return this.request;
  }

  progress(status: number, parts: ResponseParts & { reliable?: boolean }) {
    this.did.push(`progress ${status} ${parts.reliable} ${JSON.stringify(parts.headers)}`);
    return { message: this.request, acknowledged: Promise.resolve(null) };
  }
}

function openCalls() {
  const clock = new FakeClock();
  const { link, delivered, confirmed } = openLink();
  const dialogs = { register: () => 'dialog' } as unknown as DialogRegister;
  const calls = new IncomingCalls({ clock, link, dialogs });
  const offer = (headers: Readonly<Record<string, string>> = {}) => {
    const invite = new FakeInvite(request('INVITE', headers));
    calls.offer(invite as unknown as ServerInvite);
    return { invite, id: delivered.at(-1)?.transactionId ?? '' };
  };
  return { clock, calls, delivered, confirmed, offer };
}

test.each([
  ['SIP/2.0 100 Trying', 'trying', '', 1],
  ['SIP/2.0 180 Ringing', 'progress 180 false {}', 'dialog', 1],
  ['SIP/2.0 199 Almost', 'progress 199 false {}', 'dialog', 1],
  ['SIP/2.0 200 OK', 'accept', 'dialog', 0],
  ['SIP/2.0 299 Fine', 'accept', 'dialog', 0],
  ['SIP/2.0 300 Choices', 'reject 300 {}', '', 0],
  ['SIP/2.0 486 Busy', 'reject 486 {}', '', 0],
])('IncomingCalls answers with "%s" by %s', (line, did, dialogId, size) => {
  const { calls, confirmed, offer } = openCalls();
  const { invite, id } = offer();

  const isTaken = calls.answer('command', id, parse(line));

  expect([isTaken, invite.did, calls.size]).toEqual([true, [did], size]);
  expect(confirmed).toMatchObject([{ commandId: 'command', transactionId: id, dialogId }]);
});

test('IncomingCalls sends progress reliably where the application asks for it, and takes its tag', () => {
  const { calls, offer } = openCalls();
  const { invite, id } = offer();

  calls.answer(
    'a',
    id,
    parse('SIP/2.0 183 Progress', 'Require: 100rel', 'To: <sip:a@b>;tag=abcdefgh'),
  );

  expect(invite.did).toEqual(['tag abcdefgh', 'progress 183 true {}']);
});

test('IncomingCalls takes no answer to a call that is unknown', () => {
  expect(openCalls().calls.answer('a', 'unknown', parse('SIP/2.0 200 OK'))).toBe(false);
});

test('IncomingCalls gives up a call without an answer after five minutes, and tells the application', () => {
  const { clock, calls, delivered, offer } = openCalls();
  const { invite, id } = offer();

  clock.advance(299_999);
  const before = [...invite.did];
  clock.advance(1);

  expect([before, invite.did, calls.size]).toEqual([[], ['reject 480 {}'], 0]);
  expect(delivered.map(({ message }) => message.method)).toEqual(['INVITE', 'CANCEL']);
  expect(delivered[1]).toMatchObject({ transactionId: id, dialogId: '' });
  expect(delivered[1]?.message.get('cseq')).toBe('1 CANCEL');
});

test('IncomingCalls tells of a call that was cancelled, and waits for nothing more', () => {
  const { clock, calls, delivered, offer } = openCalls();
  const { invite, id } = offer();

  invite.emit('cancelled', null);

  expect(delivered.map(({ message }) => message.method)).toEqual(['INVITE', 'CANCEL']);
  expect([calls.size, clock.waiting]).toEqual([0, 0]);
  expect(calls.answer('a', id, parse('SIP/2.0 200 OK'))).toBe(false);
});

test('IncomingCalls leaves no wait behind a call that was answered', () => {
  const { clock, calls, offer } = openCalls();

  calls.answer('a', offer().id, parse('SIP/2.0 200 OK'));

  expect(clock.waiting).toBe(0);
});

test('IncomingCalls refuses all that rings when the application is gone', () => {
  const { clock, calls, offer } = openCalls();
  const { invite } = offer();

  calls.refuseAll();
  calls.refuseAll();

  expect(invite.did).toEqual(['reject 503 {"retry-after":"10"}']);
  expect([calls.size, clock.waiting]).toEqual([0, 0]);
});

test('IncomingCalls passes on the Contact that a caller has given', () => {
  const { delivered, offer } = openCalls();

  offer({ Contact: '<sip:own@192.0.2.1>' });

  expect(delivered[0]?.message.get('contact')).toBe('<sip:own@192.0.2.1>');
});

test('IncomingCalls holds ten thousand calls and turns the next away', () => {
  const { calls, offer } = openCalls();
  for (let count = 0; count < 10_000; count++) offer();

  const { invite } = offer();

  expect([calls.size, invite.did]).toEqual([10_000, ['reject 503 {"retry-after":"10"}']]);
});
