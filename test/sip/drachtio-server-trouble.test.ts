import { once } from 'node:events';
import type Srf from 'drachtio-srf';
import { afterEach, expect, test } from 'vitest';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import {
  type DrachtioServerWorld,
  openDrachtioServerWorld,
  sdp,
} from '../support/sip/drachtio-server-world.ts';
import { seededChance } from '../support/sip/sip-mutants.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { ScriptedPeer } from './scripted-peer.ts';
import { eventually, losingSocket, SHORT_TIMERS } from './user-agents.ts';

/** Slower, for a machine that is busy elsewhere loses no time on top of the datagrams. */
const LOSS_TIMERS = { t1Ms: 50, t2Ms: 200, t4Ms: 200 };

let world: DrachtioServerWorld | undefined;

afterEach(async () => {
  await world?.stop();
  world = undefined;
});

/** Answers every call, and resolves with the first dialog. */
function answering(): { readonly routes: (srf: Srf) => void; readonly uas: Promise<Srf.Dialog> } {
  const { promise: uas, resolve } = Promise.withResolvers<Srf.Dialog>();
  const routes = (srf: Srf) =>
    srf.invite((req, res) => {
      void srf.createUAS(req, res, { localSdp: sdp(4000) }).then(resolve);
    });
  return { routes, uas };
}

test('a dialog whose 2xx is never acknowledged is destroyed, and says why', async () => {
  const { routes, uas } = answering();
  // The peer, which gives up an unacknowledged 2xx as well, keeps its default time limit.
  world = await openDrachtioServerWorld({
    routes,
    engine: { timers: SHORT_TIMERS },
    peerEngine: {},
  });
  const uri = world.serverUri('agent');

  world.peer.invite({ uri, body: sdp(5000), acknowledge: 'manual' });
  const [message, reason] = await once(await uas, 'destroy');

  expect(message.method).toBe('BYE');
  expect(reason).toBe('ACK timeout');
  expect(world.drachtioServer.counts?.dialogs).toBe(0);
});

test('a dialog whose peer is gone is destroyed when it is used', async () => {
  const { routes, uas } = answering();
  world = await openDrachtioServerWorld({ routes, engine: { timers: SHORT_TIMERS } });
  await world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) }).outcome;
  const dialog = await uas;
  const destroyed = once(dialog, 'destroy');
  await world.peer.stop();

  const response = await dialog.request({
    method: 'INFO',
    headers: {},
  } as unknown as Srf.SrfRequest);
  const [, reason] = await destroyed;

  expect([408, 503]).toContain(response.status);
  expect(reason).toBe('Peer is gone');
});

test('a dialog that has ended meanwhile is reported as ENODIALOG', async () => {
  const { routes, uas } = answering();
  world = await openDrachtioServerWorld({ routes });
  const { dialog } = await world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) })
    .outcome;
  const application = await uas;
  await dialog?.bye();

  const options = { method: 'INFO', headers: {} } as unknown as Srf.SrfRequest;
  const response = application.request(options);

  await expect(response).rejects.toMatchObject({ code: 'ENODIALOG' });
});

test('a call that is answered when the application has gone is hung up, also by a peer whose Contact leads nowhere', async () => {
  const nowhere = { addresses: async () => [], services: async () => [] };
  world = await openDrachtioServerWorld({ engine: { timers: SHORT_TIMERS, resolver: nowhere } });
  const { server, srf, leave } = world;
  const peer = await new ScriptedPeer().start();
  srf.createUAC(peer.uri, { localSdp: sdp(4000) }).catch(() => undefined);
  const invite = await peer.expect('INVITE');
  peer.reply(invite, 180);
  await eventually(() => server.sizes.dialogs === 1, 'it rings');

  leave();
  await peer.expect('CANCEL');
  peer.reply(invite, 200, 'peer', { contact: '<sip:peer@nowhere.invalid>' });
  await peer.expect('ACK');
  peer.reply(await peer.expect('BYE'), 200);

  await eventually(() => server.sizes.dialogs === 0, 'the dialog is over');
  peer.stop();
});

test('a call that is answered while it is cancelled reaches the application, which ends it', async () => {
  world = await openDrachtioServerWorld();
  const { peer, peerUri, srf } = world;
  let sent: Srf.SrfRequest | undefined;
  peer.on('invite', (invite) => {
    sent?.cancel(() => undefined);
    invite.accept({ body: sdp(5000) });
  });
  const callbacks = {
    cbRequest: (_error: unknown, req?: Srf.SrfRequest) => {
      sent = req;
    },
  } as object;

  const uac = await srf.createUAC(peerUri('bob'), { localSdp: sdp(4000) }, callbacks);
  await uac.destroy();

  expect(world.drachtioServer.counts).toMatchObject({ dialogs: 0, outgoing: 0 });
});

test('a reliable 183 is acknowledged by the caller, and the application is told', async () => {
  const { promise: acknowledged, resolve } = Promise.withResolvers<Srf.SrfRequest>();
  world = await openDrachtioServerWorld({
    routes: (srf) =>
      srf.invite((req, res) => {
        const progress = { headers: { Require: '100rel' }, body: sdp(4001) };
        const answer = (prack: Srf.SrfRequest) => {
          resolve(prack);
          void srf.createUAS(req, res, { localSdp: sdp(4000) });
        };
        (res.send as (...parameters: unknown[]) => void)(183, progress, () => undefined, answer);
      }),
  });
  const heard: [number, boolean][] = [];

  const invite = world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) });
  invite.on('provisional', (response) => {
    if (response.status > 100)
      heard.push([response.status, response.hasToken('require', '100rel')]);
  });
  const { response } = await invite.outcome;

  expect((await acknowledged).method).toBe('PRACK');
  expect(heard).toEqual([[183, true]]);
  expect(response.body.toString()).toBe(sdp(4000));
});

test('createB2BUA joins two calls, and a BYE passes through', async () => {
  world = await openDrachtioServerWorld({
    routes: (srf) =>
      srf.invite(async (req, res) => {
        const { uas, uac } = await srf.createB2BUA(req, res, target, { localSdpB: req.body });
        uas.on('destroy', () => void uac.destroy());
      }),
  });
  const { peer, peerUri, serverUri } = world;
  const target = peerUri('bob');
  const { promise: called, resolve } = Promise.withResolvers<ServerInvite>();
  peer.on('invite', (invite) => {
    invite.accept({ body: sdp(5002) });
    resolve(invite);
  });

  const { dialog, response } = await peer.invite({ uri: serverUri('agent'), body: sdp(5000) })
    .outcome;
  const second = (await called).dialog;
  const over = once(second, 'ended');
  await dialog?.bye();

  expect(response.body.toString()).toBe(sdp(5002));
  expect((await called).request.body.toString()).toBe(sdp(5000));
  expect((await over)[0].cause).toBe('remote-bye');
});

test('a call without an answer for five minutes is refused, and the request cancelled', async () => {
  const clock = new FakeClock();
  const { promise: rings, resolve } = Promise.withResolvers<Srf.SrfRequest>();
  world = await openDrachtioServerWorld({
    clock,
    routes: (srf) => srf.invite((req) => resolve(req)),
  });
  const invite = world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) });
  const cancelled = once((await rings) as unknown as NodeJS.EventEmitter, 'cancel');

  clock.advance(300_000);

  expect((await invite.outcome).response.status).toBe(480);
  expect(await cancelled).toHaveLength(1);
  expect(world.drachtioServer.counts?.ringing).toBe(0);
});

test('a request that the application leaves unanswered gets 500 before the peer gives up', async () => {
  const clock = new FakeClock();
  const { routes, uas } = answering();
  world = await openDrachtioServerWorld({ clock, routes });
  const { dialog } = await world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) })
    .outcome;
  const heard = once(await uas, 'info');
  const response = dialog?.request('INFO');
  await heard;

  clock.advance(30_000);

  expect((await response)?.status).toBe(500);
  expect(world.drachtioServer.counts?.pending).toBe(0);
});

test('calls survive the loss of a fifth of all datagrams', async () => {
  const chance = seededChance(20);
  const lossy = losingSocket(() => chance() < 0.2);
  const { routes } = answering();
  world = await openDrachtioServerWorld({
    routes,
    engine: { timers: LOSS_TIMERS, openUdpSocket: lossy },
  });
  const { peer, serverUri } = world;

  const outcomes = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const { dialog, response } = await peer.invite({ uri: serverUri('agent'), body: sdp(5000) })
        .outcome;
      const goodbye = await dialog?.bye();
      return [response.status, goodbye?.status];
    }),
  );

  expect(outcomes).toEqual(Array.from({ length: 30 }, () => [200, 200]));
});
