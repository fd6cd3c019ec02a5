/** A host that has no business with the server, and throws at its ports whatever it likes. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket as TcpSocket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type RtpPacket, writeRtp } from '../../../src/rtp/packet.ts';
import { faultOf } from '../../../src/sip/message/status.ts';
import { parseMessage } from '../../../src/sip/parser/parser.ts';

/** Any loopback address but the one that telephones and server use. */
const ADDRESS = '127.0.0.9';

/** So few that the server's socket has room for them even while the server is busy. */
const BURST = 50;

/** Between bursts of RTP: a socket of a call has less room than the one of SIP. */
const RTP_BURST = 10;
const RTP_PAUSE_MS = 10;

const ASK_AGAIN_MS = 500;
const ASK_TRIES = 40;

/** Headers of a request besides Via, Max-Forwards and Content-Length. */
export type Headers = Readonly<Record<string, string>>;

export class Stranger {
  readonly #sip: UdpSocket = createSocket('udp4');
  readonly #rtp: UdpSocket = createSocket('udp4');
  readonly #streams: TcpSocket[] = [];
  readonly #waiting = new Map<string, (status: number) => void>();
  readonly #sipPort: number;
  #asked = 0;
  /** Datagrams that came to the socket that sends RTP. */
  heardDatagrams = 0;

  /** @param sipPort where the server listens on 127.0.0.1. */
  constructor(sipPort: number) {
    this.#sipPort = sipPort;
  }

  async start(): Promise<void> {
    for (const socket of [this.#sip, this.#rtp]) {
      socket.bind(0, ADDRESS);
      await once(socket, 'listening');
    }
    this.#sip.on('message', (datagram) => this.#hear(datagram));
    this.#rtp.on('message', () => {
      this.heardDatagrams += 1;
    });
  }

  stop(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#sip.close();
    this.#rtp.close();
  }

  /**
   * Sends a request and resolves with the status of its final answer; repeats it until there is one.
   *
   * @throws {Error} when nothing comes in 20 s.
   */
  async ask(method: string, headers: Headers, body = ''): Promise<number> {
    this.#asked += 1;
    const branch = `z9hG4bKstranger${this.#asked}`;
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#waiting.set(branch, resolve);
    const request = this.#request(method, { branch, headers, body });
    for (let tries = 0; tries < ASK_TRIES; tries += 1) {
      await this.#throw(request, this.#sipPort);
      const status = await Promise.race([promise, wait(ASK_AGAIN_MS)]);
      if (status !== undefined) return status;
    }
    throw new Error(`Cannot ask "${method}": the server does not answer`);
  }

  /** Throws datagrams at the SIP port; waits now and then until the server has taken them. */
  async throwDatagrams(datagrams: readonly Buffer[]): Promise<void> {
    for (let start = 0; start < datagrams.length; start += BURST) {
      for (const each of datagrams.slice(start, start + BURST)) {
        await this.#throw(each, this.#sipPort);
      }
      await this.askOptions();
    }
  }

  /** Asks whether the server is there. */
  askOptions(): Promise<number> {
    return this.ask('OPTIONS', {
      From: '<sip:stranger@127.0.0.9>;tag=stranger',
      To: '<sip:127.0.0.1>',
      'Call-ID': `options-${this.#asked}`,
      CSeq: '1 OPTIONS',
    });
  }

  /** Asks as svmap does, which sweeps networks for telephone servers. */
  async scan(): Promise<void> {
    const headers = { From: '"sipvicious"<sip:100@1.1.1.1>;tag=1', To: '<sip:100@127.0.0.1>' };
    const facts = { 'Call-ID': 'scan', CSeq: '1 OPTIONS', 'User-Agent': 'friendly-scanner' };
    const probe = { branch: 'z9hG4bKscan', headers: { ...headers, ...facts }, body: '' };
    await this.#throw(this.#request('OPTIONS', probe), this.#sipPort);
  }

  /** Throws each piece at the SIP port over a connection of its own, and ends that. */
  async throwStreams(pieces: readonly Buffer[]): Promise<void> {
    for (let start = 0; start < pieces.length; start += BURST) {
      const streams = pieces.slice(start, start + BURST).map((piece) => this.openStream(piece));
      await Promise.all(
        streams.map(async (stream) => {
          stream.resume().end();
          await closed(stream);
        }),
      );
    }
  }

  /** Opens a connection to the SIP port, says what is given, if anything, and leaves it open. */
  openStream(piece: Buffer = Buffer.alloc(0)): TcpSocket {
    const stream = connect({ port: this.#sipPort, host: '127.0.0.1', localAddress: ADDRESS });
    stream.on('error', () => undefined);
    if (piece.length > 0) stream.write(piece);
    this.#streams.push(stream);
    return stream;
  }

  /** Throws RTP at a port, faster than any caller speaks. */
  async throwRtp(packets: readonly RtpPacket[], port: number): Promise<void> {
    await this.throwMedia(packets.map(writeRtp), port);
  }

  async throwMedia(datagrams: readonly Uint8Array[], port: number): Promise<void> {
    for (const [index, datagram] of datagrams.entries()) {
      if (index % RTP_BURST === 0) await wait(RTP_PAUSE_MS);
      await new Promise((resolve) => this.#rtp.send(datagram, port, '127.0.0.1', resolve));
    }
  }

  #request(method: string, parts: { branch: string; headers: Headers; body: string }): Buffer {
    const { address, port } = this.#sip.address();
    const lines = [
      `${method} sip:127.0.0.1:${this.#sipPort} SIP/2.0`,
      `Via: SIP/2.0/UDP ${address}:${port};branch=${parts.branch};rport`,
      'Max-Forwards: 70',
      `Contact: <sip:stranger@${address}:${port}>`,
      ...Object.entries(parts.headers).map(([name, value]) => `${name}: ${value}`),
      ...(parts.body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${parts.body.length}`,
    ];
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${parts.body}`, 'latin1');
  }

  #throw(datagram: Buffer, port: number): Promise<unknown> {
    return new Promise((resolve) => this.#sip.send(datagram, port, '127.0.0.1', resolve));
  }

  /** Malformed requests are answered too: answers without a waiting request are ignored. */
  #hear(datagram: Buffer): void {
    if (faultOf(() => parseMessage(datagram)) !== undefined) return;
    const { isRequest, status, via } = parseMessage(datagram);
    if (!isRequest && status >= 200) this.#waiting.get(via.params.get('branch') ?? '')?.(status);
  }
}

/** Resolves when a connection is over, whichever side ended it. */
export function closed(stream: TcpSocket): Promise<void> {
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => stream.once('close', () => resolve()));
}
