/** SIP over WebSockets as the engine sees them: one message a frame, answers and in-dialog requests on the same flow. */
import { afterEach, expect, test } from 'vitest';
import type { MessageSocket, MessageSocketListener } from '../../src/lib/process/message-socket.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SDP } from './messages.ts';
import { eventually, kindOf, next, SHORT_TIMERS } from './user-agents.ts';

const agents: UserAgent[] = [];

afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.stop();
});

/** A WebSocket without a network, driven from the browser's side. */
class BrowserSocket implements MessageSocket {
  readonly remote = { address: '203.0.113.7', port: 50_000 };
  readonly local = { address: '192.0.2.1', port: 3000 };
  readonly isSecure: boolean;
  readonly received: Buffer[] = [];
  isOpen = true;
  unsentBytes = 0;
  closedWith: number | undefined;
  #listener: MessageSocketListener | undefined;

  constructor(isSecure = false) {
    this.isSecure = isSecure;
  }

  send(bytes: Buffer): void {
    this.received.push(bytes);
  }

  listen(listener: MessageSocketListener): void {
    this.#listener = listener;
  }

  close(status: number): void {
    this.closedWith = status;
    this.drop();
  }

  /** The browser is gone. */
  drop(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#listener?.closed();
  }

  bring(text: string): void {
    this.#listener?.message(Buffer.from(text));
  }

  get messages(): readonly SipMessage[] {
    return this.received.map((bytes) => parseMessage(bytes));
  }

  async expect(kind: string): Promise<SipMessage> {
    const find = () => this.messages.find((message) => kindOf(message) === kind);
    await eventually(() => find() !== undefined, kind);
    return find() as SipMessage;
  }
}

function start(isSecure = false) {
  const clock = new FakeClock();
  const agent = new UserAgent({ listen: [], timers: SHORT_TIMERS, clock });
  agents.push(agent);
  const socket = new BrowserSocket(isSecure);
  const flow = agent.acceptSocket(socket);
  return { agent, clock, socket, flow };
}

function request(method: string, parts: { readonly cseq?: number; readonly toTag?: string } = {}) {
  const { cseq = 1, toTag } = parts;
  const hasBody = method === 'INVITE';
  return [
    `${method} sip:agent_1@offhook.invalid SIP/2.0`,
    `Via: SIP/2.0/WS df7jal23ls0d.invalid;branch=z9hG4bK${method}${cseq}`,
    'Max-Forwards: 70',
    'From: <sip:browser@offhook.invalid>;tag=from',
    `To: <sip:agent_1@offhook.invalid>${toTag === undefined ? '' : `;tag=${toTag}`}`,
    'Call-ID: ws-call',
    `CSeq: ${cseq} ${method}`,
    'Contact: <sip:u1@df7jal23ls0d.invalid;transport=ws>',
    ...(hasBody ? ['Content-Type: application/sdp'] : []),
    `Content-Length: ${hasBody ? SDP.length : 0}`,
    '',
    hasBody ? SDP : '',
  ].join('\r\n');
}

async function call(isSecure = false) {
  const world = start(isSecure);
  const invited = next<[ServerInvite]>(world.agent, 'invite');
  world.socket.bring(request('INVITE'));
  const [invite] = await invited;
  return { ...world, invite };
}

async function answeredCall(isSecure = false) {
  const world = await call(isSecure);
  const { dialog } = world.invite.accept({ body: SDP });
  const answer = await world.socket.expect('200');
  world.socket.bring(request('ACK', { toTag: answer.toTag }));
  await next(dialog, 'ack');
  return { ...world, dialog, answer };
}

test('WebSocket carries a call: the answer names the same way in Contact, and the flow is that of the socket', async () => {
  const { invite, flow, answer } = await answeredCall();

  expect(invite.flow).toBe(flow);
  expect(answer.get('contact')).toBe('<sip:agent_1@192.0.2.1:3000;transport=ws>');
  expect(answer.via.params.get('received')).toBe('203.0.113.7');
});

test('WebSocket takes requests in the dialog to an `.invalid` contact back on the socket that the call came by', async () => {
  const { dialog, socket } = await answeredCall();

  const ended = dialog.bye();
  const bye = await socket.expect('BYE');
  const branch = bye.via.params.get('branch') ?? '';
  socket.bring(
    [
      'SIP/2.0 200 OK',
      `Via: SIP/2.0/WS 192.0.2.1:3000;branch=${branch};rport`,
      `From: ${bye.get('from')}`,
      `To: ${bye.get('to')}`,
      `Call-ID: ${bye.callId}`,
      `CSeq: ${bye.get('cseq')}`,
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n'),
  );

  expect(bye.uri).toBe('sip:u1@df7jal23ls0d.invalid;transport=ws');
  expect((await ended)?.status).toBe(200);
});

test('WebSocket over TLS says WSS in Via, and still ws in Contact', async () => {
  const { dialog, socket, answer } = await answeredCall(true);

  void dialog.request('INFO');
  const info = await socket.expect('INFO');

  expect(info.via.transport).toBe('WSS');
  expect(answer.get('contact')).toContain(';transport=ws>');
});

test('WebSocket that closes while the call rings cancels it', async () => {
  const { invite, socket } = await call();
  const cancelled = next<[SipMessage | null]>(invite, 'cancelled');

  socket.drop();

  expect(await cancelled).toEqual([null]);
  expect(invite.state).toBe('cancelled');
});

test('WebSocket that closes during a transaction of ours answers it with 503 at once, and ends the dialog', async () => {
  const { agent, dialog, socket } = await answeredCall();
  const ended = next<[{ readonly cause: string }]>(dialog, 'ended');
  const answer = dialog.request('INFO');
  await socket.expect('INFO');

  socket.drop();

  expect((await answer).status).toBe(503);
  expect((await ended)[0].cause).toBe('peer-gone');
  expect(await dialog.bye()).toBeNull();
  expect(agent.sizes).toMatchObject({ dialogs: 0, connections: 0 });
});

test('WebSocket repeats nothing: it is reliable', async () => {
  const { clock, invite, socket } = await call();
  invite.reject(486);

  clock.advance(4 * SHORT_TIMERS.t1Ms);

  expect(socket.messages.map(kindOf).filter((kind) => kind === '486')).toHaveLength(1);
});

test('WebSocket answers a double line break with a single one, and takes a single one for nothing', async () => {
  const { agent, socket } = start();

  socket.bring('\r\n\r\n');
  socket.bring('\r\n');

  expect(socket.received.map(String)).toEqual(['\r\n']);
  expect(agent.counts.messagesIn).toBe(0);
});

test('WebSocket lives on after a message that is no SIP, and refuses one whose body is cut short', async () => {
  const { agent, socket } = start();

  socket.bring('hello');
  socket.bring(request('INVITE').replace(/Content-Length: \d+/, 'Content-Length: 5000'));
  const refusal = await socket.expect('400');

  expect(refusal.cseq.method).toBe('INVITE');
  expect(agent.counts.dropped.unreadable).toBe(1);
  expect(socket.isOpen).toBe(true);
});

test('WebSocket is closed when its peer sends more at once than can wait, or reads nothing', async () => {
  const flooded = start();
  const deaf = await answeredCall();

  for (let sent = 0; sent < 100; sent += 1)
    flooded.socket.bring(request('OPTIONS', { cseq: sent }));
  deaf.socket.unsentBytes = 1024 * 1024;
  const answer = await deaf.dialog.request('INFO');

  expect(flooded.socket.closedWith).toBe(1008);
  expect(deaf.socket.closedWith).toBe(1008);
  expect(answer.status).toBe(503);
});

test('UserAgent.stop closes the WebSockets', async () => {
  const { agent, socket, flow } = start();

  await agent.stop();

  expect(socket.closedWith).toBe(1001);
  expect(flow.isOpen).toBe(false);
});

test('UserAgent cannot call a browser: a server cannot open a WebSocket to it', async () => {
  const { agent } = start();

  const response = await agent.request({
    method: 'OPTIONS',
    uri: 'sip:u1@df7jal23ls0d.invalid;transport=ws',
    from: '<sip:offhook@offhook.invalid>',
  });

  expect(response.status).toBe(503);
});
