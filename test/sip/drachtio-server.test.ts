import { once } from 'node:events';
import type Srf from 'drachtio-srf';
import { afterEach, expect, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { DialogEnd } from '../../src/sip/dialog/dialog-core.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { ServerRequest } from '../../src/sip/own-messages.ts';
import {
  type DrachtioServerWorld,
  openDrachtioServerWorld,
  sdp,
} from '../support/sip/drachtio-server-world.ts';

let world: DrachtioServerWorld | undefined;

afterEach(async () => {
  await world?.stop();
  world = undefined;
});

interface Answered {
  readonly uas: Srf.Dialog;
  readonly dialog: Dialog;
  readonly response: SipMessage;
  readonly world: DrachtioServerWorld;
}

/** The peer calls, the application answers by createUAS. */
async function answeredCall(): Promise<Answered> {
  const { promise: uasMade, resolve: resolveUas } = Promise.withResolvers<Srf.Dialog>();
  const opened = await openDrachtioServerWorld({
    routes: (srf) =>
      srf.invite((req, res) => {
        void srf.createUAS(req, res, { localSdp: sdp(4000) }).then(resolveUas);
      }),
  });
  world = opened;
  const invite = opened.peer.invite({ uri: opened.serverUri('agent'), body: sdp(5000) });
  const { dialog, response } = await invite.outcome;
  if (dialog === null) throw new Error(`Cannot call: ${response.status} ${response.reason}`);
  return { uas: await uasMade, dialog, response, world: opened };
}

test('createUAS answers a call with the application session description', async () => {
  const { uas, dialog, response } = await answeredCall();

  expect(response.body.toString()).toBe(sdp(4000));
  expect(uas.remote.sdp).toBe(sdp(5000));
  expect(uas.sip.callId).toBe(dialog.data.callId);
  expect(uas.sip.remoteTag).toBe(dialog.data.localTag);
});

test('a dialog hears the ACK of its 2xx', async () => {
  const { promise: acked, resolve } = Promise.withResolvers<Srf.SrfRequest>();
  world = await openDrachtioServerWorld({
    routes: (srf) =>
      srf.invite(async (req, res) => {
        const uas = await srf.createUAS(req, res, { localSdp: sdp(4000) });
        uas.on('ack', resolve);
      }),
  });

  await world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) }).outcome;

  expect((await acked).method).toBe('ACK');
});

test('Dialog.destroy ends the call at the peer', async () => {
  const { uas, dialog } = await answeredCall();
  const ended = once(dialog, 'ended') as Promise<[DialogEnd]>;

  await uas.destroy();

  expect((await ended)[0].cause).toBe('remote-bye');
  expect(world?.drachtioServer.counts).toMatchObject({ dialogs: 0, outgoing: 0 });
});

test('a BYE of the peer destroys the dialog', async () => {
  const { uas, dialog } = await answeredCall();
  const destroyed = once(uas, 'destroy');

  const response = await dialog.bye();

  expect(response?.status).toBe(200);
  await expect(destroyed).resolves.toBeDefined();
  expect(world?.drachtioServer.counts?.dialogs).toBe(0);
});

test('Dialog.modify puts the peer on hold and gives its answer back', async () => {
  const { uas, dialog } = await answeredCall();
  const offers: string[] = [];
  dialog.on('reinvite', (reinvite) => {
    offers.push(reinvite.request.body.toString());
    reinvite.respond(200, { body: sdp(5000).replace('sendrecv', 'inactive') });
  });
  const acked = once(dialog, 'ack');

  const answer = await uas.modify('hold');

  expect(offers[0]).toContain('a=inactive');
  expect(answer).toContain('a=inactive');
  await acked;
});

test('a re-INVITE of the peer is answered by the application', async () => {
  const { uas, dialog } = await answeredCall();
  uas.on('modify', (_req, res) => res.send(200, { body: sdp(4002) }));

  const response = await dialog.reinvite({ body: sdp(5002) });

  expect(response.status).toBe(200);
  expect(response.body.toString()).toBe(sdp(4002));
});

test.each([
  'INFO',
  'UPDATE',
  'NOTIFY',
  'REFER',
])('a %s of the peer reaches the dialog', async (method) => {
  const { uas, dialog } = await answeredCall();
  const bodies: string[] = [];
  (uas as NodeJS.EventEmitter).on(
    method.toLowerCase(),
    (req: Srf.SrfRequest, res: Srf.SrfResponse) => {
      bodies.push(req.body);
      res.send(202, { headers: { 'X-Heard': 'yes' } });
    },
  );

  const response = await dialog.request(method, {
    body: sdp(5004),
    headers: {
      'Refer-To': '<sip:bob@example.com>',
      Event: 'refer',
      'Subscription-State': 'active',
    },
  });

  expect(response.status).toBe(202);
  expect(response.get('x-heard')).toBe('yes');
  expect(bodies).toEqual([sdp(5004)]);
});

test.each([
  'INFO',
  'NOTIFY',
  'REFER',
  'UPDATE',
])('Dialog.request sends %s to the peer', async (method) => {
  const { uas, dialog } = await answeredCall();
  const { promise: heard, resolve } = Promise.withResolvers<ServerRequest>();
  dialog.on('request', (request) => {
    request.respond(200, { headers: { 'X-Peer': 'Zoë' } });
    resolve(request);
  });

  const response = await uas.request({
    method,
    body: 'Signal=5',
    headers: {
      'Content-Type': method === 'UPDATE' ? 'application/sdp' : 'application/dtmf-relay',
      'Refer-To': '<sip:bob@example.com>',
      Event: 'refer',
      'X-App': 'Šárka',
    },
  } as unknown as Srf.SrfRequest);

  const { request } = await heard;
  expect(request.method).toBe(method);
  expect(request.body.toString()).toBe('Signal=5');
  expect(Buffer.from(request.get('x-app') ?? '', 'latin1').toString()).toBe('Šárka');
  expect(response.status).toBe(200);
  expect(response.get('X-Peer')).toBe('Zoë');
});

test('a CANCEL of the peer reaches the request', async () => {
  const { promise: rings, resolve: ring } = Promise.withResolvers<Srf.SrfRequest>();
  world = await openDrachtioServerWorld({
    routes: (srf) =>
      srf.invite((req, res) => {
        res.send(180);
        ring(req);
      }),
  });
  const invite = world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) });
  const cancelled = once((await rings) as unknown as NodeJS.EventEmitter, 'cancel');

  invite.cancel();
  const { response } = await invite.outcome;

  expect(response.status).toBe(487);
  expect((await cancelled)[0].method).toBe('CANCEL');
  expect(world.drachtioServer.counts).toMatchObject({ ringing: 0, pending: 0, dialogs: 0 });
});

test('Response.send refuses a call with its reason', async () => {
  world = await openDrachtioServerWorld({
    routes: (srf) =>
      srf.invite((_req, res) => res.send(486, { headers: { 'X-Why': 'on the phone' } })),
  });

  const { response } = await world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) })
    .outcome;

  expect(response.status).toBe(486);
  expect(response.get('x-why')).toBe('on the phone');
});
