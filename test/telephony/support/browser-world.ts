/** Lines that are UDP ports, a gateway for browsers in front of them, and a browser that calls. */
import { createSocket, type Socket } from 'node:dgram';
import type { Worker } from 'node:worker_threads';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { parseRtp, type RtpPacket, writeRtp } from '../../../src/rtp/packet.ts';
import type { MediaError } from '../../../src/telephony/media-gateway.ts';
import { startRelay } from '../../../src/telephony/webrtc/relay-thread.ts';
import {
  WeriftGateway,
  type WeriftGatewayOptions,
} from '../../../src/telephony/webrtc/werift-gateway.ts';
import { SilentSession } from '../silent-lines.ts';
import { BrowserPeer } from './browser-peer.ts';

export const LOOPBACK = '127.0.0.1';
const stops: (() => unknown)[] = [];

/** To be called after each test. */
export async function stopBrowserWorld(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

/** A line whose sound is a UDP port of the test. */
class UdpLine extends SilentSession {
  readonly received: RtpPacket[] = [];
  readonly #socket: Socket = createSocket('udp4');
  override localPort = 0;
  saidFirst: number | undefined;
  #listeners: ((event: { kind: 'media-lost' }) => void)[] = [];

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#socket.bind(0, LOOPBACK, () => resolve()));
    this.localPort = this.#socket.address().port;
    this.#socket.on('message', (bytes) => {
      const packet = parseRtp(bytes);
      if (packet !== undefined) this.received.push(packet);
    });
    return this;
  }

  /** Sends one packet to the far end. */
  send(payloadType: number, byte: number, sequence: number): void {
    const { address = '', port = 0 } = this.remotes.at(-1) ?? {};
    const payload = new Uint8Array(160).fill(byte);
    const rtp = { payloadType, hasMarker: false, sequence, timestamp: sequence * 160, ssrc: 9 };
    this.#socket.send(writeRtp({ ...rtp, payload }), port, address);
  }

  override onEvent(listener?: (event: { kind: 'media-lost' }) => void): void {
    if (listener !== undefined) this.#listeners.push(listener);
  }

  override begin(generation?: number): void {
    this.saidFirst ??= generation;
  }

  override async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}

export function openGateway(options: Partial<WeriftGatewayOptions> = {}) {
  const lines: UdpLine[] = [];
  const workers: Worker[] = [];
  const gateway = new WeriftGateway({
    engine: {
      open: async () => {
        const line = await new UdpLine().open();
        lines.push(line);
        return line;
      },
    },
    ports: { first: 42_000, last: 42_099 },
    addresses: async () => [LOOPBACK],
    callsMax: 10,
    clock: systemClock,
    log: silentLogger,
    startRelay: (settings) => {
      const worker = startRelay(settings);
      workers.push(worker);
      return worker;
    },
    ...options,
  });
  stops.push(() => gateway.stop());
  return { gateway, lines, workers };
}

export async function connectedCall(options: Partial<WeriftGatewayOptions> = {}) {
  const world = openGateway(options);
  const browser = newBrowser();
  const endpoint = await world.gateway.open({ remoteSdp: await browser.offer() });
  await browser.take(endpoint.localSdp);
  await browser.connected();
  const [line] = world.lines;
  if (line === undefined) throw new Error('No line was opened');
  return { ...world, browser, endpoint, line };
}

export async function failureOf(promise: Promise<unknown>): Promise<MediaError> {
  return await promise.then(
    () => Promise.reject(new Error('It did not fail')),
    (error) => error,
  );
}

export function newBrowser(): BrowserPeer {
  const browser = new BrowserPeer();
  stops.push(() => browser.close());
  return browser;
}
