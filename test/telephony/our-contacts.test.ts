import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import { OurContacts } from '../../src/telephony/drachtio/carrier/our-contacts.ts';
import {
  openSrf,
  type SrfClient,
  type SrfMessageParts,
} from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfIncomingCall } from '../../src/telephony/drachtio/leg/incoming-call.ts';
import { SrfOutgoingCall } from '../../src/telephony/drachtio/leg/outgoing-call.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';
import { KeptAnswer, PlainEndpoint, request, settle } from './scripted-srf.ts';

const PARTS = { clock: new FakeClock(), log: silentLogger };
const MEDIA = {
  start: async () => undefined,
  stop: async () => undefined,
  open: async () => new PlainEndpoint(),
};

/** As docs/drachtio.md has it: a second contact on loopback, towards FreeSWITCH. */
const LISTENING = 'udp/127.0.0.1:5070,tcp/127.0.0.1:5070,udp/10.0.0.5:5060,tcp/10.0.0.5:5060';

/**
 * The far ends outside see us as `advertised`.
 *
 * @param external address of a server that was started with `--external-ip`.
 */
function contactsOf(advertised: string | undefined, external?: string): OurContacts {
  const contacts = new OurContacts({
    addresses: {
      advertisedTo: (farEnd) => (farEnd.startsWith('10.') ? undefined : advertised),
      isOutside: (farEnd) => !farEnd.startsWith('10.'),
      proxyAddressOf: async ({ proxy }) => proxy.host,
    },
  });
  const all = external === undefined ? LISTENING : `${external},${LISTENING}`;
  contacts.serverListens([all, 'v0.9.10', LISTENING]);
  return contacts;
}

const EXTERNAL = 'udp/203.0.113.10:5060';

test('OurContacts knows where the server listens, UDP first', () => {
  const contacts = new OurContacts({});

  contacts.serverListens(['tcp/192.0.2.1:5060,udp/192.0.2.1:5060', 'v0.8.30']);

  expect(contacts.listening).toEqual([
    { transport: 'udp', hostPort: '192.0.2.1:5060', isExternal: false },
    { transport: 'tcp', hostPort: '192.0.2.1:5060', isExternal: false },
  ]);
});

test('OurContacts tells the external address of a server from those it listens on', () => {
  const contacts = new OurContacts({});
  const local = 'udp/127.0.0.1:5070,udp/10.0.0.5:5060';

  contacts.serverListens([`udp/127.0.0.1:5070,${EXTERNAL}`, 'v0.9.10', local]);

  expect(contacts.listening).toEqual([
    { transport: 'udp', hostPort: '127.0.0.1:5070', isExternal: false },
    { transport: 'udp', hostPort: '203.0.113.10:5060', isExternal: true },
    { transport: 'udp', hostPort: '10.0.0.5:5060', isExternal: false },
  ]);
});

test.each([
  ['a far end outside', '203.0.113.50', 'udp', { Contact: '<sip:203.0.113.10:5060>' }],
  ['one by TCP', '203.0.113.50', 'tcp', { Contact: '<sip:203.0.113.10:5060;transport=tcp>' }],
  ['one in our network', '10.0.0.77', 'udp', {}],
])('OurContacts tells %s where it reaches us', (_, farEnd, transport, expected) => {
  const contacts = contactsOf('203.0.113.10');

  expect(contacts.headers(farEnd, { trunk: undefined, transport })).toEqual(expected);
});

test('OurContacts takes the port of the contact that has the external address', () => {
  const contacts = contactsOf('203.0.113.10', 'udp/203.0.113.10:5090');

  const { Contact } = contacts.headers('', { trunk: undefined, transport: 'udp' });

  expect(Contact).toBe('<sip:203.0.113.10:5090>');
});

test('OurContacts tells far ends of our network the local address of a server that knows its external one', async () => {
  const contacts = contactsOf('203.0.113.10', EXTERNAL);

  const inside = contacts.headers('10.0.0.77', { trunk: undefined, transport: 'udp' });
  const registered = await contacts.ofTrunk(trunkTo('10.0.0.77'));

  expect(inside).toEqual({ Contact: '<sip:10.0.0.5:5060>' });
  expect(registered).toBe('10.0.0.5:5060');
});

test('OurContacts leaves the external address to a server that alone knows it', () => {
  const contacts = contactsOf(undefined, EXTERNAL);

  expect(contacts.headers('203.0.113.50', { trunk: undefined, transport: 'udp' })).toEqual({});
});

test.each([
  ['203.0.113.100', '203.0.113.10', '203.0.113.10:5060'],
  ['203.0.113.100;transport=tcp', '203.0.113.10', '203.0.113.10:5060;transport=tcp'],
  ['203.0.113.100', undefined, 'localhost'],
  ['10.0.0.77', '203.0.113.10', 'localhost'],
])('OurContacts has a trunk at %s, with %s advertised, register %s', async (proxy, advertised, expected) => {
  expect(await contactsOf(advertised).ofTrunk(trunkTo(proxy))).toBe(expected);
});

test('SrfIncomingCall tells its caller our Contact from the first response on', async () => {
  const answer = new KeptAnswer();
  const answered: (string | undefined)[] = [];
  const createUAS: SrfClient['createUAS'] = (_request, _answer, { headers }) =>
    void answered.push(headers.Contact);
  const call = new SrfIncomingCall({
    ...{ ...PARTS, answer, media: MEDIA, server: 'sip', request: request({ body: 'offer' }) },
    ...{ srf: Object.assign(openSrf(), { createUAS }), contacts: contactsOf('203.0.113.10') },
    ...{ trunk: undefined, journal: undefined, onOver: () => undefined },
  });

  call.ring();
  const rung = answer.sent;
  void call.answer().catch(() => undefined);
  await settle();

  expect(rung?.parts.headers).toEqual({ Contact: '<sip:203.0.113.10:5060>' });
  expect(answered).toEqual(['<sip:203.0.113.10:5060>']);
});

test('SrfOutgoingCall tells the carrier our Contact', async () => {
  const sent: SrfMessageParts[] = [];
  const createUAC: SrfClient['createUAC'] = (_uri, parts) => void sent.push(parts);
  const call = new SrfOutgoingCall({
    ...{ ...PARTS, media: MEDIA, server: 'sip', isReportedByEngine: false, from: OURS, to: THEIRS },
    ...{ srf: Object.assign(openSrf(), { createUAC }), contacts: contactsOf('203.0.113.10') },
    ...{ trunk: trunkTo('203.0.113.100'), callId: 'call-1', ringingTimeoutMs: 60_000 },
    ...{ answerChallenge: undefined, journal: undefined, onOver: () => undefined },
  });

  await settle();
  call.fail('the test is over', 487);

  expect(sent[0]?.headers).toMatchObject({ Contact: '<sip:203.0.113.10:5060>' });
});
