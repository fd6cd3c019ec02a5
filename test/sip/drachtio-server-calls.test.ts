import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type Srf from 'drachtio-srf';
import { afterEach, expect, test } from 'vitest';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import { parseAuthFields } from '../../src/sip/digest.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import {
  type DrachtioServerWorld,
  openDrachtioServerWorld,
  rememberingCredentials,
  sdp,
} from '../support/sip/drachtio-server-world.ts';

const CREDENTIALS = { username: 'zoë', password: 'sesame' };

let world: DrachtioServerWorld | undefined;

afterEach(async () => {
  await world?.stop();
  world = undefined;
});

/** Accepts every call, and keeps its dialog. */
function answering(invite: ServerInvite, dialogs: Dialog[]): void {
  const { dialog } = invite.accept({ body: sdp(5000) });
  dialogs.push(dialog);
}

/** Whether the request answers our challenge as RFC 7616 says, for qop=auth. */
function isAuthorized(request: SipMessage, hash: string, session: boolean): boolean {
  const fields = parseAuthFields(request.get('authorization') ?? '');
  const digest = (text: string) => createHash(hash).update(text).digest('hex');
  const [nonce, cnonce] = [fields.get('nonce'), fields.get('cnonce')];
  const user = digest(`${CREDENTIALS.username}:carrier:${CREDENTIALS.password}`);
  const a1 = session ? digest(`${user}:${nonce}:${cnonce}`) : user;
  const a2 = digest(`${request.method}:${fields.get('uri')}`);
  const expected = digest(`${a1}:${nonce}:${fields.get('nc')}:${cnonce}:auth:${a2}`);
  return fields.get('response') === expected;
}

test('createUAC calls, acknowledges and ends a call', async () => {
  world = await openDrachtioServerWorld();
  const dialogs: Dialog[] = [];
  world.peer.on('invite', (invite) => {
    expect(invite.request.from.uri).toBe('sip:+3906123@127.0.0.1');
    answering(invite, dialogs);
  });
  const opts = { localSdp: sdp(4000), callingNumber: '+3906123', headers: { 'X-Id': 'a' } };

  const uac = await world.srf.createUAC(world.peerUri('bob'), opts);
  const ended = once(dialogs[0] as Dialog, 'ended');
  await uac.destroy();

  expect(uac.remote.sdp).toBe(sdp(5000));
  expect((await ended)[0].cause).toBe('remote-bye');
  expect(world.drachtioServer.counts).toEqual({ dialogs: 0, ringing: 0, pending: 0, outgoing: 0 });
});

test('createUAC tells of ringing and early media', async () => {
  world = await openDrachtioServerWorld();
  world.peer.on('invite', (invite) => {
    invite.progress(180);
    invite.progress(183, { body: sdp(5001) });
    invite.accept({ body: sdp(5000) });
  });
  const heard: [number, string][] = [];

  await world.srf.createUAC(
    world.peerUri('bob'),
    { localSdp: sdp(4000) },
    { cbProvisional: (res) => heard.push([res.status, res.body]) },
  );

  expect(heard.filter(([status]) => status > 100)).toEqual([
    [180, ''],
    [183, sdp(5001)],
  ]);
});

test('createUAC takes reliable ringing without acknowledging it twice', async () => {
  world = await openDrachtioServerWorld();
  const acknowledged: (SipMessage | null)[] = [];
  world.peer.on('invite', async (invite) => {
    const progress = invite.progress(183, { body: sdp(5001), reliable: true });
    acknowledged.push(await progress.acknowledged);
    invite.accept({ body: sdp(5000) });
  });

  const uac = await world.srf.createUAC(world.peerUri('bob'), {
    localSdp: sdp(4000),
    headers: { Supported: '100rel' },
  });

  expect(acknowledged.map((prack) => prack?.method)).toEqual(['PRACK']);
  expect(uac.remote.sdp).toBe(sdp(5000));
});

test('Request.cancel takes a ringing call back', async () => {
  world = await openDrachtioServerWorld();
  const cancelled: string[] = [];
  world.peer.on('invite', (invite) => {
    invite.on('cancelled', (message) => cancelled.push(message?.method ?? ''));
    invite.progress(180);
  });
  let sent: Srf.SrfRequest | undefined;
  const callbacks = {
    cbRequest: (_error: unknown, req?: Srf.SrfRequest) => {
      sent = req;
    },
    cbProvisional: (res: Srf.SrfResponse) => {
      if (res.status === 180) sent?.cancel(() => undefined);
    },
  } as object;

  const call = world.srf.createUAC(world.peerUri('bob'), { localSdp: sdp(4000) }, callbacks);

  await expect(call).rejects.toMatchObject({ status: 487 });
  expect(cancelled).toEqual(['CANCEL']);
});

test('createUAC is rejected with the status of the peer', async () => {
  world = await openDrachtioServerWorld();
  world.peer.on('invite', (invite) => invite.reject(486));

  const call = world.srf.createUAC(world.peerUri('bob'), { localSdp: sdp(4000) });

  await expect(call).rejects.toMatchObject({ status: 486 });
});

test('createUAC is rejected with 503 when the peer is out of reach', async () => {
  world = await openDrachtioServerWorld();

  const call = world.srf.createUAC('sip:bob@127.0.0.1:9;transport=tcp', { localSdp: sdp(4000) });

  await expect(call).rejects.toMatchObject({ status: 503 });
});

test('createUAC goes by way of the proxy', async () => {
  world = await openDrachtioServerWorld();
  const routes: string[] = [];
  world.peer.on('invite', (invite) => {
    routes.push(invite.request.uri, ...invite.request.all('route'));
    invite.reject(404);
  });
  const proxy = world.peerUri('').replace('sip:@', 'sip:');

  const call = world.srf.createUAC('sip:bob@carrier.example', { localSdp: sdp(4000), proxy });

  await expect(call).rejects.toMatchObject({ status: 404 });
  expect(routes).toEqual(['sip:bob@carrier.example', `<${proxy};lr>`]);
});

test.each([
  { offers: ['MD5'], hash: 'md5', session: false },
  { offers: ['MD5', 'SHA-256'], hash: 'sha256', session: false },
  { offers: ['SHA-256-sess'], hash: 'sha256', session: true },
])('DrachtioServer answers a challenge of $offers itself', async ({ offers, hash, session }) => {
  const { realms, credentialsFor } = rememberingCredentials(CREDENTIALS);
  world = await openDrachtioServerWorld({ credentialsFor });
  const verdicts: boolean[] = [];
  world.peer.on('invite', (invite) => {
    if (invite.request.get('authorization') === undefined) {
      const challenges = offers.map(
        (algorithm) =>
          `Digest realm="carrier", nonce="n${algorithm}", algorithm=${algorithm}, qop="auth"`,
      );
      invite.reject(401, { headers: { 'WWW-Authenticate': challenges } });
      return;
    }
    verdicts.push(isAuthorized(invite.request, hash, session));
    answering(invite, []);
  });

  const uac = await world.srf.createUAC(world.peerUri('bob'), { localSdp: sdp(4000) });

  expect(verdicts).toEqual([true]);
  expect(realms).toEqual(['carrier']);
  expect(uac.remote.sdp).toBe(sdp(5000));
});

test('a password that is refused comes back as 401, after one try', async () => {
  const { credentialsFor } = rememberingCredentials(CREDENTIALS);
  world = await openDrachtioServerWorld({ credentialsFor });
  let tries = 0;
  world.peer.on('invite', (invite) => {
    tries++;
    const challenge = `Digest realm="carrier", nonce="n${tries}", qop="auth"`;
    invite.reject(401, { headers: { 'WWW-Authenticate': challenge } });
  });

  const call = world.srf.createUAC(world.peerUri('bob'), { localSdp: sdp(4000) });

  await expect(call).rejects.toMatchObject({ status: 401 });
  expect(tries).toBe(2);
});

test('without credentials the application answers the challenge itself, with MD5', async () => {
  world = await openDrachtioServerWorld();
  const verdicts: boolean[] = [];
  world.peer.on('invite', (invite) => {
    if (invite.request.get('authorization') === undefined) {
      const challenge = 'Digest realm="carrier", nonce="n1", qop="auth"';
      invite.reject(401, { headers: { 'WWW-Authenticate': challenge } });
      return;
    }
    verdicts.push(isAuthorized(invite.request, 'md5', false));
    answering(invite, []);
  });

  await world.srf.createUAC(world.peerUri('bob'), { localSdp: sdp(4000), auth: CREDENTIALS });

  expect(verdicts).toEqual([true]);
});

test('Srf.request sends a request outside of any dialog', async () => {
  world = await openDrachtioServerWorld();
  const options = { method: 'OPTIONS', headers: {} } as unknown as Srf.SrfRequest;
  const request = world.srf.request as unknown as (
    uri: string,
    opts: Srf.SrfRequest,
  ) => Promise<Srf.SrfRequest>;

  const sent = await request.call(world.srf, world.peerUri('bob'), options);
  const [response] = await once(sent as unknown as NodeJS.EventEmitter, 'response');

  expect(sent.method).toBe('OPTIONS');
  expect([200, 480]).toContain(response.status);
});
