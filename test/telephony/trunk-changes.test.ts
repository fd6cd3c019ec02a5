/** Trunks that come, change and go while the server runs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Phone } from '../../examples/phone/phone.ts';
import { REGISTRAR, type ScriptedCarrier, startCarrier } from '../support/sip/scripted-carrier.ts';
import { COLLEAGUE } from './caller-and-colleague.ts';
import { type EmbeddedPlane, startSilentPlane } from './embedded-plane.ts';
import { OURS, THEIRS, trunkTo } from './plane.ts';

const ACCOUNT = { username: 'joe', password: 'secret', register: true };

const stops: (() => Promise<unknown>)[] = [];
let registrar: ScriptedCarrier;
let plane: EmbeddedPlane;

beforeEach(async () => {
  registrar = await startCarrier(REGISTRAR);
  stops.push(() => registrar.stop());
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(...trunks: Parameters<typeof startSilentPlane>[0]) {
  plane = await startSilentPlane(trunks);
  stops.push(() => plane.stop());
}

async function startPhone() {
  const phone = new Phone({ number: THEIRS });
  await phone.start();
  stops.push(() => phone.stop());
  return phone;
}

/** `Expires` of the REGISTERs so far that were not challenged; the plane knows no password. */
function expiries() {
  return registrar.of('REGISTER').map((request) => request.header('Expires'));
}

const TAKES_ANY = { status: 200, headers: { Expires: '300' } };

test('Carrier registers a trunk that comes, and takes its registration back when it goes', async () => {
  registrar.script = () => TAKES_ANY;
  await start();

  await plane.carrier.useTrunks([trunkTo(registrar.hostPort, ACCOUNT)]);
  await expect.poll(() => plane.carrier.routeFor(OURS)?.problem).toBeUndefined();
  await expect.poll(expiries).toEqual(['300']);
  await plane.carrier.useTrunks([]);

  expect(expiries()).toEqual(['300', '0']);
  expect(plane.carrier.routeFor(OURS)).toBeUndefined();
});

test('Carrier does not register again for a change of numbers and limits', async () => {
  registrar.script = () => TAKES_ANY;
  await start(trunkTo(registrar.hostPort, ACCOUNT));
  await expect.poll(() => plane.carrier.routeFor(OURS)?.problem).toBeUndefined();

  await plane.carrier.useTrunks([
    trunkTo(registrar.hostPort, { ...ACCOUNT, numbers: [THEIRS], maxCalls: 3 }),
  ]);

  expect(plane.carrier.routeFor(THEIRS)).toMatchObject({ problem: undefined, total: 3 });
  expect(plane.carrier.routeFor(OURS)).toBeUndefined();
  expect(expiries()).toEqual(['300']);
});

test('Carrier takes the former registration back before it registers with another user name', async () => {
  registrar.script = () => TAKES_ANY;
  await start(trunkTo(registrar.hostPort, ACCOUNT));
  await expect.poll(() => plane.carrier.routeFor(OURS)?.problem).toBeUndefined();

  await plane.carrier.useTrunks([trunkTo(registrar.hostPort, { ...ACCOUNT, username: 'jim' })]);
  await expect.poll(() => expiries().length).toBe(3);

  const users = registrar
    .of('REGISTER')
    .map((request) => [request.header('To').slice(1, 8), request.header('Expires')]);
  expect(users).toEqual([
    ['sip:joe', '300'],
    ['sip:joe', '0'],
    ['sip:jim', '300'],
  ]);
});

test('Carrier takes a registration back that is still being made, before it registers again', async () => {
  registrar.script = () => undefined;
  await start(trunkTo(registrar.hostPort, ACCOUNT));
  await expect.poll(expiries).toEqual(['300']);
  registrar.script = () => TAKES_ANY;

  // Its REGISTER is repeated after half a second, and answered then.
  const changed = trunkTo(registrar.hostPort, { ...ACCOUNT, registerExpiresSeconds: 600 });
  await plane.carrier.useTrunks([changed]);
  await expect.poll(() => expiries().at(-1)).toBe('600');

  expect(expiries()).toEqual(['300', '300', '0', '600']);
});

test('Carrier takes calls by the sources of the newest trunks, and leaves calls in progress alone', async () => {
  const phone = await startPhone();
  await start(trunkTo(phone.hostPort(), { name: 'first' }));
  const [call, leg] = await Promise.all([
    phone.call(`sip:${OURS}@${plane.hostPort}`),
    plane.rings.next().then((incoming) => incoming.answer()),
  ]);
  const over: string[] = [];
  leg.onReleased(({ kind }) => over.push(kind));

  await plane.carrier.useTrunks([
    trunkTo('192.0.2.1', { name: 'other', allowedSources: ['192.0.2.1'] }),
  ]);
  const { invite } = await phone.dial(`sip:${OURS}@${plane.hostPort}`);
  const { response } = await invite.outcome;

  expect(response.status).toBe(403);
  expect([call.dialog.state, over]).toEqual(['confirmed', []]);
  await call.hangUp();
  await expect.poll(() => over).toEqual(['far-end']);
});

test('Carrier places a second call with the trunk’s new settings', async () => {
  const [phone, other] = [await startPhone(), await startPhone()];
  const settings = { name: 'one', transfer: 'bridge' };
  await start(trunkTo(phone.hostPort(), settings));
  phone.onRinging((call) => void call.answer());
  const asked: string[] = [];
  other.onRinging((call) => {
    asked.push(call.request.uri);
    call.reject(486);
  });
  const leg = await plane.carrier.place({ from: OURS, to: THEIRS, ringingTimeoutMs: 9_000 })
    .answered;

  await plane.carrier.useTrunks([trunkTo(other.hostPort(), settings)]);
  const busy = await leg.transfer(COLLEAGUE).catch((error) => error);
  await plane.carrier.useTrunks([]);
  const removed = await leg.transfer(COLLEAGUE).catch((error) => error);

  expect(asked).toEqual([expect.stringContaining(COLLEAGUE)]);
  expect([busy.sipStatus, removed.sipStatus]).toEqual([486, 404]);
  await leg.hangUp();
});

test('Carrier counts calls in progress against the new limit of their trunk', async () => {
  const phone = await startPhone();
  await start(trunkTo(phone.hostPort()));
  const { invite } = await phone.dial(`sip:${OURS}@${plane.hostPort}`);
  const incoming = await plane.rings.next();

  await plane.carrier.useTrunks([trunkTo(phone.hostPort(), { maxCalls: 1 })]);
  const route = plane.carrier.routeFor(OURS);
  incoming.reject(486);
  await invite.outcome;

  expect(route).toMatchObject({ free: 0, total: 1 });
  await expect.poll(() => plane.carrier.routeFor(OURS)?.free).toBe(1);
});
