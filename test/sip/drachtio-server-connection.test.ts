import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { DialogEnd } from '../../src/sip/dialog/dialog-core.ts';
import { FrameReader, formatFrame } from '../../src/sip/drachtio-server/application-connection.ts';
import {
  connectSrf,
  type DrachtioServerWorld,
  openDrachtioServerWorld,
  SECRET,
  sdp,
} from '../support/sip/drachtio-server-world.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

let world: DrachtioServerWorld | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await world?.stop();
  world = undefined;
});

/** A client that speaks the protocol by hand. */
class RawClient {
  readonly socket: Socket;
  readonly answers: string[] = [];
  readonly #frames = new FrameReader();

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => undefined);
    this.socket.on('data', (chunk) => {
      const payloads = this.#frames.push(chunk).map(String);
      // The first field is the frame's own name, and different each time.
      this.answers.push(...payloads.map((text) => text.slice(text.indexOf('|') + 1)));
    });
    sockets.push(this.socket);
  }

  send(command: string): void {
    this.socket.write(formatFrame(command));
  }

  async ask(command: string): Promise<string> {
    const { length } = this.answers;
    this.send(command);
    while (this.answers.length === length) await once(this.socket, 'data');
    return this.answers[length] ?? '';
  }

  async closed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, 'close');
  }
}

/** A world whose one place for an application is free. */
async function openEmptyWorld(): Promise<DrachtioServerWorld> {
  const opened = await openDrachtioServerWorld();
  world = opened;
  opened.leave();
  await ended(opened);
  return opened;
}

/** Waits until the server has noticed that the application is gone. */
async function ended({ drachtioServer, peer, serverUri }: DrachtioServerWorld): Promise<void> {
  while (drachtioServer.counts !== undefined)
    await peer.request({ method: 'INFO', uri: serverUri('x') });
}

test('DrachtioServer says where it listens and which server it stands for', async () => {
  const { drachtioServer, server } = await openEmptyWorld();
  const client = new RawClient(drachtioServer.port);

  const answer = await client.ask(`1|authenticate|${SECRET}|`);

  const port = server.addresses[0]?.port;
  expect(answer).toMatch(
    new RegExp(
      `^response\\|1\\|OK\\|udp/127\\.0\\.0\\.1:${port},tcp/127\\.0\\.0\\.1:\\d+\\|v0\\.8\\.`,
    ),
  );
});

test.each([
  ['a wrong secret', '1|authenticate|guess|', 'response|1|NOK|wrong secret'],
  ['anything before the secret', '1|route|invite', 'response|1|NOK|not authenticated'],
])('DrachtioServer refuses %s and hangs up', async (_what, command, refusal) => {
  const { drachtioServer } = await openEmptyWorld();
  const client = new RawClient(drachtioServer.port);

  const answer = await client.ask(command);

  expect(answer).toBe(refusal);
  await client.closed();
});

test('DrachtioServer refuses a second application', async () => {
  world = await openDrachtioServerWorld();
  const client = new RawClient(world.drachtioServer.port);

  const answer = await client.ask(`1|authenticate|${SECRET}|`);

  expect(answer).toBe('response|1|NOK|another application is connected');
  expect(world.drachtioServer.counts).toBeDefined();
});

test.each([
  'x#hello',
  '0#',
  '999999#',
  '1234567',
  '-5#hello',
])('DrachtioServer hangs up on the frame %j', async (octets) => {
  const { drachtioServer } = await openEmptyWorld();
  const client = new RawClient(drachtioServer.port);

  client.socket.write(octets);

  await client.closed();
});

test('DrachtioServer hangs up on who does not log in within five seconds', async () => {
  const clock = new FakeClock();
  world = await openDrachtioServerWorld({ clock });
  const client = new RawClient(world.drachtioServer.port);
  await once(client.socket, 'connect');
  while (clock.waiting === 0)
    await world.peer.request({ method: 'INFO', uri: world.serverUri('x') });

  clock.advance(5_000);

  await client.closed();
  expect(world.drachtioServer.counts).toBeDefined();
});

test.each([
  ['ping', 'OK'],
  ['route|options', 'OK'],
  ['remove_route|options', 'OK'],
  ['route|cdr:start', 'NOK|cannot route cdr:start'],
  ['proxy|1||', 'NOK|unsupported verb proxy'],
  ['sip||\r\nnonsense', 'NOK|Bad start line'],
  ['sip|no-such||\r\nSIP/2.0 200 OK\r\n\r\n', 'NOK|transaction not found'],
  ['sip||no-such\r\nBYE sip:placeholder SIP/2.0\r\n\r\n', 'NOK|unable to find dialog'],
  ['sip|no-such|\r\nCANCEL sip:a@b SIP/2.0\r\n\r\n', 'NOK|transaction not found'],
  ['sip||\r\nACK sip:a@b SIP/2.0\r\n\r\n', 'OK'],
])('DrachtioServer answers %j with %s', async (command, answer) => {
  const { drachtioServer } = await openEmptyWorld();
  const client = new RawClient(drachtioServer.port);
  await client.ask(`1|authenticate|${SECRET}|`);

  expect(await client.ask(`2|${command}`)).toBe(`response|2|${answer}`);
});

test('DrachtioServer refuses calls with 503 and Retry-After when no application is connected', async () => {
  const { peer, serverUri } = await openEmptyWorld();

  const { response } = await peer.invite({ uri: serverUri('agent'), body: sdp(5000) }).outcome;

  expect(response.status).toBe(503);
  expect(Number(response.get('retry-after'))).toBeGreaterThan(0);
});

test('DrachtioServer refuses calls with 503 when the application takes none', async () => {
  world = await openDrachtioServerWorld();

  const { response } = await world.peer.invite({ uri: world.serverUri('agent'), body: sdp(5000) })
    .outcome;

  expect(response.status).toBe(503);
});

test('DrachtioServer ends the calls of an application that disconnects', async () => {
  world = await openDrachtioServerWorld({
    routes: (srf) =>
      srf.invite((req, res) => {
        if (req.calledNumber === 'ring') res.send(180);
        else void srf.createUAS(req, res, { localSdp: sdp(4000) });
      }),
  });
  const { peer, serverUri } = world;
  const { dialog } = await peer.invite({ uri: serverUri('agent'), body: sdp(5000) }).outcome;
  const ringing = peer.invite({ uri: serverUri('ring'), body: sdp(5000) });
  await once(ringing, 'provisional');
  if (dialog === null) throw new Error('Cannot test: the call was not answered');
  const over = once(dialog, 'ended') as Promise<[DialogEnd]>;

  world.leave();

  expect((await over)[0].cause).toBe('remote-bye');
  expect((await ringing.outcome).response.status).toBe(503);
});

test('DrachtioServer takes an application that connects again', async () => {
  const { drachtioServer, peer, serverUri } = await openEmptyWorld();

  const again = await connectSrf(drachtioServer, (srf) => srf.invite((_req, res) => res.send(486)));
  const { response } = await peer.invite({ uri: serverUri('agent'), body: sdp(5000) }).outcome;

  expect(response.status).toBe(486);
  again.disconnect();
});

test('DrachtioServer.stop closes the port, and may be called twice', async () => {
  const { drachtioServer } = await openEmptyWorld();
  const { port } = drachtioServer;

  await drachtioServer.stop();
  await drachtioServer.stop();

  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const [error] = await once(socket, 'error');
  expect(error.code).toBe('ECONNREFUSED');
});

test('FrameReader gives the same payloads wherever the stream is split', () => {
  const stream = Buffer.concat(['a', 'bé|c', 'x'.repeat(500)].map((text) => formatFrame(text)));
  const whole = new FrameReader().push(stream).map(String);

  for (let at = 0; at <= stream.length; at++) {
    const reader = new FrameReader();
    const payloads = [...reader.push(stream.subarray(0, at)), ...reader.push(stream.subarray(at))];
    expect(payloads.map(String)).toEqual(whole);
  }
});
