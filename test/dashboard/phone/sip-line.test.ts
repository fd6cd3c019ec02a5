/** The phone's SIP on a real socket: what it sends, and what it makes of what comes. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LineListener } from '../../../src/dashboard/phone/phone.ts';
import { PhoneError } from '../../../src/dashboard/phone/phone-state.ts';
import { openSipLine } from '../../../src/dashboard/phone/sip-line.ts';
import { CALL_ID_HEADER } from '../../../src/domain/call/live-sound.ts';
import { headerOf, SipServer } from './sip-server.ts';

const EVENTUALLY = { timeout: 5000, interval: 10 };

let server: SipServer;

beforeEach(async () => {
  server = await SipServer.listen();
});

afterEach(() => server.close());

/** Opens a line whose sound is only descriptions, and writes down what it told. */
async function open(options: { readonly hasTones?: boolean } = {}) {
  const told: string[] = [];
  let break_ = () => {};
  const listener: LineListener = {
    onRinging: () => told.push('ringing'),
    onAnswered: (callId) => told.push(callId === null ? 'answered' : `answered ${callId}`),
    onEnded: (problem) => told.push(problem === null ? 'ended' : problem.kind),
  };
  const media = {
    factory: () => ({
      close: () => undefined,
      getDescription: async () => ({ body: 'v=0 offer', contentType: 'application/sdp' }),
      hasDescription: () => true,
      setDescription: async (sdp: string) => void told.push(sdp),
      sendDtmf: () => false,
    }),
    sendTone: (digit: string) => {
      if (options.hasTones !== true) return false;
      told.push(`tone ${digit}`);
      return true;
    },
    onBroken: (listen: () => void) => {
      break_ = listen;
    },
    close: () => told.push('closed'),
  };
  const ticket = { url: server.url, uri: 'sip:agent_1@offhook.invalid', domain: 'offhook.invalid' };
  const line = await openSipLine(ticket, media, listener);
  return { line, told, breakSound: () => break_() };
}

async function openAnswered(options: { readonly hasTones?: boolean } = {}) {
  const opened = await open(options);
  const invite = await server.request('INVITE');
  server.answer(invite, '200 OK', 'v=0 answer');
  await expect.poll(() => opened.told, EVENTUALLY).toContain('answered');
  return { ...opened, invite };
}

test('openSipLine invites the agent from the ticket’s domain, with the offer', async () => {
  await open();

  const { text, body } = await server.request('INVITE');

  expect(text.split('\r\n', 1)).toEqual(['INVITE sip:agent_1@offhook.invalid SIP/2.0']);
  expect(headerOf(text, 'From')).toMatch(/^<sip:browser@offhook.invalid>;tag=/);
  expect(headerOf(text, 'Via')).toMatch(/^SIP\/2.0\/WS /);
  expect(body).toBe('v=0 offer');
});

test('openSipLine tells of ringing and of the answer, and passes the answer’s description on', async () => {
  const { told } = await open();
  const invite = await server.request('INVITE');

  server.answer(invite, '100 Trying');
  server.answer(invite, '180 Ringing');
  await expect.poll(() => told, EVENTUALLY).toContain('ringing');
  server.answer(invite, '200 OK', 'v=0 answer');
  await server.request('ACK');

  await expect.poll(() => told, EVENTUALLY).toEqual(['ringing', 'v=0 answer', 'answered']);
});

test('openSipLine tells by what name the server knows the call', async () => {
  const { told } = await open();

  const headers = [`${CALL_ID_HEADER}: call_1`];
  server.answer(await server.request('INVITE'), '200 OK', 'v=0 answer', headers);

  await expect.poll(() => told, EVENTUALLY).toContain('answered call_1');
});

test('hangUp of a call that goes on says BYE, and lets the socket go', async () => {
  const { line, told } = await openAnswered();

  const hungUp = line.hangUp();
  server.answer(await server.request('BYE'), '200 OK');
  await hungUp;

  expect(told).not.toContain('ended');
  expect(told).toContain('closed');
});

test('hangUp of a call that rings says CANCEL', async () => {
  const { line } = await open();
  const invite = await server.request('INVITE');
  server.answer(invite, '180 Ringing');

  const hungUp = line.hangUp();
  server.answer(await server.request('CANCEL'), '200 OK');
  server.answer(invite, '487 Request Terminated');
  await hungUp;

  const methods = () => server.requests.map(({ method }) => method);
  await expect.poll(methods, EVENTUALLY).toEqual(['INVITE', 'CANCEL', 'ACK']);
});

test('a BYE from the agent ends the call without a problem', async () => {
  const { told, invite } = await openAnswered();

  server.bye(invite);

  await expect.poll(() => told, EVENTUALLY).toContain('ended');
});

test.each([
  ['480 Temporarily Unavailable', 'agentPaused'],
  ['503 Service Unavailable', 'serverFull'],
  ['488 Not Acceptable Here', 'refused'],
])('a refusal with %s is told once, as %s', async (status, kind) => {
  const { told } = await open();

  server.answer(await server.request('INVITE'), status);

  await expect.poll(() => told, EVENTUALLY).toEqual([kind]);
});

test('a socket that is lost ends the call', async () => {
  const { told } = await openAnswered();

  server.drop();

  await expect.poll(() => told, EVENTUALLY).toContain('socketLost');
});

test('sound that breaks ends the call', async () => {
  const { told, breakSound } = await openAnswered();

  breakSound();

  expect(told.at(-1)).toBe('soundBlocked');
});

test('a server that does not answer is a PhoneError', async () => {
  server.close();

  const opening = open();

  await expect(opening).rejects.toBeInstanceOf(PhoneError);
  await expect(opening).rejects.toMatchObject({ problem: { kind: 'socketRefused' } });
});

test('press sends a tone where the sound takes tones', async () => {
  const { line, told } = await openAnswered({ hasTones: true });

  await line.press('7');

  expect(told).toContain('tone 7');
});

test('press sends an INFO where the sound takes none', async () => {
  const { line } = await openAnswered();

  const pressed = line.press('#');
  const info = await server.request('INFO');
  server.answer(info, '200 OK');
  await pressed;

  expect(headerOf(info.text, 'Content-Type')).toBe('application/dtmf-relay');
  expect(info.body).toContain('Signal=#');
});
