import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { SrfClient } from '../../src/telephony/drachtio/carrier/srf.ts';
import { openDrachtioServerWorld, sdp } from '../support/sip/drachtio-server-world.ts';

test('DrachtioServer passes 491 on at once, as a real drachtio-server does, and leaves the next try to the application', async () => {
  const world = await openDrachtioServerWorld();
  onTestFinished(() => world.stop());
  let tries = 0;
  world.peer.on('invite', (invite) => {
    const { dialog } = invite.accept({ body: sdp(5000) });
    dialog.on('reinvite', ({ respond }) => {
      tries += 1;
      respond(491);
    });
  });
  const dialog = await world.srf.createUAC(world.peerUri('callee'), { localSdp: sdp(4000) });

  const startedMs = performance.now();
  const refusal = await dialog.modify(sdp(4002)).catch((error: unknown) => error);

  expect(refusal).toMatchObject({ status: 491 });
  expect(tries).toBe(1);
  // Our own engine would have come back after 2.1 s at the earliest. RFC 3261, 14.1.
  expect(performance.now() - startedMs).toBeLessThan(2_000);
});

test('DrachtioServer says 491 as well while the far end waits for the answer to an INVITE of its own', async () => {
  const world = await openDrachtioServerWorld();
  onTestFinished(() => world.stop());
  const accepted = new Promise<Dialog>((resolve) => {
    world.peer.on('invite', (invite) => resolve(invite.accept({ body: sdp(5000) }).dialog));
  });
  const dialog = await world.srf.createUAC(world.peerUri('callee'), { localSdp: sdp(4000) });
  const asked = new Promise<() => void>((resolve) => {
    dialog.on('modify', (_, answer) => resolve(() => answer.send(200, { body: sdp(4000) })));
  });

  const theirs = (await accepted).reinvite({ body: sdp(5002) });
  const answer = await asked;
  const refusal = await dialog.modify(sdp(4002)).catch((error: unknown) => error);
  answer();
  const { status } = await theirs;

  expect(refusal).toMatchObject({ status: 491 });
  expect(status).toBe(200);
});

test('DrachtioServer lets an application that is new end a dialog of an older one, by its tags alone', async () => {
  const world = await openDrachtioServerWorld();
  onTestFinished(() => world.stop());
  const call = new Promise<{ readonly ended: Promise<unknown[]> }>((resolve) => {
    world.peer.on('invite', (invite) => {
      const { dialog } = invite.accept({ body: sdp(5000) });
      resolve({ ended: once(dialog, 'ended') });
    });
  });
  const { sip, remote } = await world.srf.createUAC(world.peerUri('callee'), {
    localSdp: sdp(4000),
    headers: { From: '<sip:caller@127.0.0.1>' },
  });

  // Nothing of the dialog object is used, as after a restart.
  const headers = {
    'Call-ID': sip.callId,
    From: `<sip:caller@127.0.0.1>;tag=${sip.localTag}`,
    To: `<${world.peerUri('callee')}>;tag=${sip.remoteTag}`,
    CSeq: '1001 BYE',
  };
  const answered = new Promise<number>((resolve) => {
    const srf = world.srf as unknown as SrfClient;
    srf.request(remote.uri, { method: 'BYE', headers }, (_, request) => {
      request?.on('response', ({ status }) => resolve(status));
    });
  });

  expect(await answered).toBe(200);
  expect(await (await call).ended).toMatchObject([{ cause: 'remote-bye' }]);
});
