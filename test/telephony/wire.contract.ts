/** What every carrier does with peers that no decent telephone resembles: raw datagrams. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OURS, type Plane, type StartPlane, THEIRS, trunkTo } from './plane.ts';

/** Of an address without a port. RFC 3261, 19.1.2. */
const SIP_PORT = 5060;

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 40002 RTP/AVP 0',
  '',
].join('\r\n');

export function describeWire(name: string, startPlane: StartPlane): void {
  describe(name, () => {
    let peer: RawPeer;
    let plane: Plane | undefined;

    beforeEach(async () => {
      peer = new RawPeer();
      await peer.start();
    });
    afterEach(async () => {
      await plane?.stop();
      plane = undefined;
      peer.stop();
    });

    test('Carrier rings once for an INVITE that comes twenty times, and hangs up once', async () => {
      plane = await startPlane([]);
      const { hostPort, rings } = plane;
      const target = `sip:${OURS}@${hostPort}`;

      for (let copy = 0; copy < 20; copy += 1) peer.send('INVITE', target, { hostPort, body: SDP });
      const answered = (await rings.next()).answer();
      const ok = await peer.response(200, 'INVITE');
      const to = headerOf(ok, 'To');
      peer.send('ACK', target, { hostPort, to });
      const leg = await answered;
      const released = new Promise((resolve) => leg.onReleased(resolve));
      for (let copy = 0; copy < 20; copy += 1) peer.send('BYE', target, { hostPort, to });
      await peer.response(200, 'BYE');

      expect(await released).toEqual({ kind: 'far-end' });
      expect(rings.count).toBe(1);
    });

    test('Carrier does not hang up for a stranger who guesses the call', async () => {
      plane = await startPlane([]);
      const { hostPort, rings } = plane;
      const target = `sip:${OURS}@${hostPort}`;
      peer.send('INVITE', target, { hostPort, body: SDP });
      const answered = (await rings.next()).answer();
      const to = headerOf(await peer.response(200, 'INVITE'), 'To');
      peer.send('ACK', target, { hostPort, to });
      const leg = await answered;
      let isReleased = false;
      leg.onReleased(() => {
        isReleased = true;
      });

      peer.send('BYE', target, { hostPort, to: to.replace(/tag=.*/, 'tag=guess') });
      await peer.response(481, 'BYE');

      expect(isReleased).toBe(false);
      peer.send('BYE', target, { hostPort, to });
      await peer.response(200, 'BYE');
    });

    test('Carrier registers its trunk, answers the challenge, and takes it back at the end', async () => {
      const account = { username: 'joe', password: 'secret', register: true };
      const { carrier, stop } = await startPlane([trunkTo(peer.hostPort, account)]);

      const first = await peer.request('REGISTER');
      peer.answer(first, 401, ['WWW-Authenticate: Digest realm="r", nonce="n1"']);
      const second = await peer.request('REGISTER');
      peer.answer(second, 200, [`Contact: ${headerOf(second, 'Contact')};expires=300`]);
      await expect.poll(() => carrier.reports()[1]?.isReady).toBe(true);
      const stopped = stop();
      const farewell = await peer.request('REGISTER');
      peer.answer(farewell, 200, []);
      await stopped;

      expect(first).toMatch(new RegExp(`^REGISTER sip:${peer.hostPort}[ ;]`));
      expect(headerOf(first, 'To')).toBe('<sip:joe@127.0.0.1>');
      expect(headerOf(second, 'Authorization')).toContain('username="joe"');
      expect(headerOf(second, 'Contact')).toMatch(/<sip:joe@127\.0\.0\.1[:>]/);
      expect(headerOf(farewell, 'Expires')).toBe('0');
    });
  });
}

/** A SIP peer that writes and reads datagrams by hand. */
class RawPeer {
  readonly #socket: Socket = createSocket('udp4');
  readonly #heard: string[] = [];

  async start(): Promise<void> {
    this.#socket.on('message', (datagram) => this.#heard.push(datagram.toString()));
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
  }

  stop(): void {
    this.#socket.close();
  }

  get hostPort(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  send(
    method: string,
    uri: string,
    options: { readonly hostPort: string; readonly to?: string; readonly body?: string },
  ): void {
    const { hostPort, body = '', to = `<${uri}>` } = options;
    const sequence = method === 'BYE' ? 2 : 1;
    const lines = [
      `${method} ${uri} SIP/2.0`,
      `Via: SIP/2.0/UDP ${this.hostPort};branch=z9hG4bK${Buffer.from(method + to).toString('hex')}`,
      'Max-Forwards: 70',
      `From: <sip:${THEIRS}@${this.hostPort}>;tag=peer`,
      `To: ${to}`,
      `Call-ID: raw-${this.#socket.address().port}`,
      `CSeq: ${sequence} ${method}`,
      `Contact: <sip:${THEIRS}@${this.hostPort}>`,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
      '',
      body,
    ];
    this.#sendTo(hostPort, lines.join('\r\n'));
  }

  /** The first response of that status to that method. */
  response(status: number, method: string): Promise<string> {
    return this.#first((text) => {
      return text.startsWith(`SIP/2.0 ${status}`) && headerOf(text, 'CSeq').endsWith(method);
    });
  }

  /** The next request of that method; its repetitions are left out. */
  request(method: string): Promise<string> {
    return this.#first((text) => text.startsWith(`${method} `));
  }

  answer(request: string, status: number, headers: readonly string[]): void {
    const copied = ['Via', 'From', 'To', 'Call-ID', 'CSeq'].map((name) => {
      return `${name}: ${headerOf(request, name)}${name === 'To' ? ';tag=registrar' : ''}`;
    });
    const lines = [
      `SIP/2.0 ${status} Whatever`,
      ...copied,
      ...headers,
      'Content-Length: 0',
      '',
      '',
    ];
    const [, hostPort = ''] = /^SIP\/2\.0\/UDP ([^;]+)/.exec(headerOf(request, 'Via')) ?? [];
    this.#sendTo(hostPort, lines.join('\r\n'));
  }

  async #first(isWanted: (text: string) => boolean): Promise<string> {
    for (;;) {
      const found = this.#heard.find(isWanted);
      if (found !== undefined) {
        const sequence = headerOf(found, 'CSeq');
        const kept = this.#heard.filter((text) => headerOf(text, 'CSeq') !== sequence);
        this.#heard.splice(0, this.#heard.length, ...kept);
        return found;
      }
      await once(this.#socket, 'message');
    }
  }

  #sendTo(hostPort: string, text: string): void {
    const [host, port = SIP_PORT] = hostPort.split(':');
    this.#socket.send(text, Number(port), host);
  }
}

function headerOf(message: string, name: string): string {
  const found = message.split('\r\n').find((line) => line.startsWith(`${name}: `));
  return found?.slice(name.length + 2) ?? '';
}
