/** A SIP peer that does just what a test says, right or wrong, over a plain UDP socket. */
import { createSocket, type Socket } from 'node:dgram';
import { makeResponse, type SipMessage } from '../../src/sip/message/message.ts';
import { parseMessage } from '../../src/sip/parser/parser.ts';
import { eventually, kindOf } from './user-agents.ts';

export class ScriptedPeer {
  /** All that came in, in order. */
  readonly received: SipMessage[] = [];
  readonly #socket: Socket = createSocket('udp4');
  #userAgentPort = 0;
  readonly #address: string;

  /** @param address of this machine that it sends from. */
  constructor(address = '127.0.0.1') {
    this.#address = address;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#socket.bind(0, this.#address, resolve));
    this.#socket.on('message', (bytes, { port }) => {
      this.#userAgentPort = port;
      this.received.push(parseMessage(bytes));
    });
    return this;
  }

  stop(): void {
    this.#socket.close();
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get uri(): string {
    return `sip:peer@${this.#address}:${this.port}`;
  }

  /** `INVITE`, `ACK`, `200`: what has come in so far. */
  get kinds(): string[] {
    return this.received.map(kindOf);
  }

  /** Waits for the `count`-th message of that kind. */
  async expect(kind: string, count = 1): Promise<SipMessage> {
    const ofKind = () => this.received.filter((message) => kindOf(message) === kind);
    await eventually(() => ofKind().length >= count, `${kind} number ${count}`);
    const message = ofKind()[count - 1];
    if (message === undefined) throw new Error(`No ${kind}`);
    return message;
  }

  /** Answers; `tag` is the peer's. */
  reply(
    request: SipMessage,
    status: number,
    tag = 'peer',
    headers: Readonly<Record<string, string>> = {},
  ): void {
    const response = makeResponse(request, status, undefined, tag);
    if (request.method === 'INVITE' && status < 300) response.add('contact', `<${this.uri}>`);
    for (const [name, value] of Object.entries(headers)) response.set(name, value);
    this.send(response);
  }

  /** Sends to the user agent that was last heard, or to `port`. */
  send(message: SipMessage, port = this.#userAgentPort): void {
    this.#socket.send(message.toBuffer(), port, '127.0.0.1');
  }
}
