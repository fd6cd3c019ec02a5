import { expect, onTestFinished, test } from 'vitest';
import { EventSocket } from '../../src/telephony/freeswitch/event-socket.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { EVENT_SECRET, EventSocketServer, type Mood } from './support/event-socket-server.ts';

async function openServer(mood: Mood = 'well') {
  const server = new EventSocketServer({ onApi: (command) => `you said ${command}` });
  server.mood = mood;
  await server.start();
  onTestFinished(() => server.stop());
  const clock = new FakeClock();
  const lost: string[] = [];
  const open = (secret = EVENT_SECRET) =>
    EventSocket.open({
      ...{ host: '127.0.0.1', port: server.port, secret, clock },
      onLost: (reason) => lost.push(reason),
    });
  return { server, clock, lost, open };
}

test('EventSocket logs in, runs commands in order and knows its own address', async () => {
  const { open } = await openServer();

  const socket = await open();
  const printed = await Promise.all([socket.api('one'), socket.api('two')]);
  socket.close();

  expect(printed).toEqual(['you said one', 'you said two']);
  expect(socket.localAddress).toBe('127.0.0.1');
});

test.each([
  ['rude', 'it takes no connections from our address'],
  ['garbage', 'a header has no name'],
] as const)('EventSocket says why a server that is %s cannot be used', async (mood, why) => {
  const { open, lost } = await openServer(mood);

  await expect(open()).rejects.toThrow(why);

  expect(lost).toEqual([]);
});

test('EventSocket says when the secret is refused', async () => {
  const { open } = await openServer();

  await expect(open('guess')).rejects.toThrow('it refused the secret');
});

test('EventSocket gives up a server that takes the connection and says nothing', async () => {
  const { open, clock, server } = await openServer('mute');
  const opening = open();
  const refused = expect(opening).rejects.toThrow('no answer came within 3 s');
  await expect.poll(() => server.connections).toBe(1);

  clock.advance(3_000);

  await refused;
});

test('EventSocket is lost when a command has no answer, and every later one fails at once', async () => {
  const { open, clock, server, lost } = await openServer();
  const socket = await open();
  server.mood = 'mute';
  const asked = expect(socket.api('status')).rejects.toThrow('no answer came within 3 s');

  clock.advance(3_000);

  await asked;
  await expect(socket.api('status')).rejects.toThrow('closed');
  expect(lost).toEqual(['no answer came within 3 s']);
});

test('EventSocket is lost when the server dies', async () => {
  const { open, server, lost } = await openServer();
  const socket = await open();
  server.mood = 'mute';
  const asked = expect(socket.api('status')).rejects.toThrow(/closed|ECONNRESET/);

  await server.stop();

  await asked;
  expect(lost).toEqual([expect.stringMatching(/closed|ECONNRESET/)]);
});

test('EventSocket that is closed is not lost', async () => {
  const { open, lost } = await openServer();
  const socket = await open();

  socket.close();
  socket.close();

  await expect(socket.api('status')).rejects.toThrow('closed');
  expect(lost).toEqual([]);
});
