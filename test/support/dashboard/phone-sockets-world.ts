/** The WebSockets of browsers at a real HTTP port, with a phone behind them that only listens. */

import { randomBytes } from 'node:crypto';
import WebSocket from 'ws';
import { HttpServer } from '../../../src/api/http/http-server.ts';
import type { BrowserCaller } from '../../../src/domain/call/live-sound.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import type { MessageSocket } from '../../../src/lib/process/message-socket.ts';
import { PhoneTickets } from '../../../src/operator/operator-sessions.ts';
import { PhoneSockets } from '../../../src/operator/phone-sockets.ts';
import { FakeClock } from '../time/fake-clock.ts';

const stops: (() => unknown)[] = [];

/** To be called after each test. */
export async function stopPhoneSockets(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

/** What SIP would see of one browser. */
interface Line {
  readonly socket: MessageSocket;
  readonly caller: BrowserCaller;
  readonly received: string[];
  hangUps: number;
  isClosed: boolean;
}

export async function openPhoneSockets() {
  const clock = new FakeClock();
  const lines: Line[] = [];
  const state = { isSessionAlive: true };
  const tickets = new PhoneTickets({ clock, random: (count) => randomBytes(count) });
  const sockets = new PhoneSockets({
    phone: {
      connect: (socket, caller) => {
        const line: Line = { socket, caller, received: [], hangUps: 0, isClosed: false };
        lines.push(line);
        socket.listen({
          message: (bytes) => line.received.push(bytes.toString()),
          closed: () => {
            line.isClosed = true;
          },
        });
        return {
          hangUp: async () => {
            line.hangUps += 1;
          },
        };
      },
    },
    tickets,
    sessions: { isAlive: async () => state.isSessionAlive },
    publicUrl: 'https://phones.example',
    clock,
    log: silentLogger,
  });
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    fetch: () => new Response('plain'),
    upgrades: sockets,
    newId: () => 'req_1',
    clock,
  });
  const port = await server.start();
  stops.push(() => server.stop());
  const newTicket = () =>
    tickets.issue({
      scope: { accountId: 'acct_main', environment: 'live' },
      agentId: 'agent_front',
      isDraft: false,
      sessionHash: 'session',
    }).text;
  return { clock, lines, state, server, port, newTicket };
}

type World = Awaited<ReturnType<typeof openPhoneSockets>>;

interface Wish {
  readonly ticket?: string;
  readonly origin?: string;
  readonly protocol?: string;
  readonly path?: string;
  readonly isDeaf?: boolean;
  readonly onPing?: () => void;
}

/** Opens a connection. @throws {Error} with the status and body of the refusal. */
export async function dial(world: World, wish: Wish = {}): Promise<WebSocket> {
  const { path = '/dashboard/sip', protocol = 'sip' } = wish;
  const ticket = wish.ticket ?? world.newTicket();
  const origin = wish.origin ?? 'https://phones.example';
  const url = `ws://127.0.0.1:${world.port}${path}?ticket=${ticket}`;
  const webSocket = new WebSocket(url, protocol, { origin, autoPong: wish.isDeaf !== true });
  webSocket.on('ping', () => wish.onPing?.());
  stops.push(() => webSocket.terminate());
  await new Promise<void>((resolve, reject) => {
    webSocket.once('open', () => resolve());
    webSocket.once('unexpected-response', (_, response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)));
    });
    webSocket.once('error', reject);
  });
  return webSocket;
}

/** Resolves with the status that the connection is closed with. */
export function closing(webSocket: WebSocket): Promise<number> {
  return new Promise((resolve) => webSocket.once('close', resolve));
}
