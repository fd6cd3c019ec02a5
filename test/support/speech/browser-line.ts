/** A browser's sound as a telephone's line: plain RTP goes on between the line and the browser's peer connection. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { PhoneLine } from '../../../examples/phone/phone-line.ts';
import type { BrowserPeer } from '../../telephony/support/browser-peer.ts';

const LOOPBACK = '127.0.0.1';

export class BrowserLine {
  readonly phoneLine = new PhoneLine();
  readonly #relay: Socket = createSocket('udp4');

  /** Begins to send. */
  async open(browser: BrowserPeer): Promise<void> {
    await this.phoneLine.open(LOOPBACK);
    this.#relay.bind(0, LOOPBACK);
    await once(this.#relay, 'listening');
    this.#relay.on('message', (datagram) => browser.send(datagram));
    browser.onPacket((datagram) => this.#relay.send(datagram, this.phoneLine.port, LOOPBACK));
    const { port } = this.#relay.address();
    this.phoneLine.connect({
      ...{ address: LOOPBACK, port, rtcpPort: port + 1, isRtcpMuxed: false },
      ...{ codec: 'PCMU', payloadType: 0, maySend: true, mayReceive: true },
    });
  }

  /** After the browser. */
  close(): void {
    this.phoneLine.close();
    this.#relay.close();
  }
}
