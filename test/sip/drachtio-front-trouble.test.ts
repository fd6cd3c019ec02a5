import { once } from 'node:events';
import type Srf from 'drachtio-srf';
import { afterEach, expect, test } from 'vitest';
import type { FrontWorld } from '../support/front-world.ts';
import { openFrontWorld, sdp } from '../support/front-world.ts';
import { seededChance } from '../support/sip-mutants.ts';
import { losingSocket } from './user-agents.ts';

/** A fiftieth of the standard's, so that nobody waits half a minute for a peer that is gone. */
const FAST_TIMERS = { t1Ms: 10, t2Ms: 80, t4Ms: 100 };

let world: FrontWorld | undefined;

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
  world = await openFrontWorld({ routes, engine: { timers: FAST_TIMERS } });
  const uri = world.serverUri('agent');

  world.peer.invite({ uri, body: sdp(5000), acknowledge: 'manual' });
  const [message, reason] = await once(await uas, 'destroy');

  expect(message.method).toBe('BYE');
  expect(reason).toBe('ACK timeout');
  expect(world.front.counts?.dialogs).toBe(0);
});

test('a dialog whose peer is gone is destroyed when it is used', async () => {
  const { routes, uas } = answering();
  world = await openFrontWorld({ routes, engine: { timers: FAST_TIMERS } });
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
  world = await openFrontWorld({ routes });
  const { dialog } = await world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) })
    .outcome;
  const application = await uas;
  await dialog?.bye();

  const options = { method: 'INFO', headers: {} } as unknown as Srf.SrfRequest;
  const response = application.request(options);

  await expect(response).rejects.toMatchObject({ code: 'ENODIALOG' });
});

test('a call that is answered while it is cancelled is handed over, to be ended', async () => {
  world = await openFrontWorld();
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

  expect(world.front.counts).toMatchObject({ dialogs: 0, outgoing: 0 });
});

test('calls survive the loss of a fifth of all datagrams', async () => {
  const chance = seededChance(20);
  const lossy = losingSocket(() => chance() < 0.2);
  const { routes } = answering();
  world = await openFrontWorld({ routes, engine: { timers: FAST_TIMERS, openUdpSocket: lossy } });
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
