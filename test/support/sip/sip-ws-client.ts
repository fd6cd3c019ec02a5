/** A browser's SIP over one WebSocket, as small as a test needs it: it calls, holds, hangs up, and is hung up on. */
import { randomBytes } from 'node:crypto';
import WebSocket from 'ws';
import { makeResponse, SipMessage } from '../../../src/sip/message/message.ts';
import { parseMessage } from '../../../src/sip/parser/parser.ts';
import { eventually, kindOf } from '../../sip/user-agents.ts';

export class SipWsClient {
  /** All that came in for this call, in order. */
  readonly received: SipMessage[] = [];
  readonly webSocket: WebSocket;
  closedWith: number | undefined;
  readonly #callId = `${randomBytes(8).toString('hex')}@browser.invalid`;
  readonly #tag = randomBytes(4).toString('hex');
  #uri = '';
  #to = '';
  #target = '';
  #sequence = 0;

  private constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    webSocket.on('close', (status) => {
      this.closedWith = status;
    });
  }

  /** @throws {Error} with the HTTP status when the server refuses. */
  static async open(url: string, origin: string, protocol = 'sip'): Promise<SipWsClient> {
    const webSocket = new WebSocket(url, protocol, { origin });
    const client = new SipWsClient(webSocket);
    await new Promise<void>((resolve, reject) => {
      webSocket.once('open', () => resolve());
      webSocket.once('unexpected-response', (_, { statusCode }) =>
        reject(new Error(String(statusCode))),
      );
      webSocket.once('error', reject);
    });
    return client;
  }

  /** Another call over the same connection. */
  another(): SipWsClient {
    return new SipWsClient(this.webSocket);
  }

  /** Calls. @returns the final response; one below 300 has been acknowledged. */
  async invite(uri: string, sdp: string): Promise<SipMessage> {
    this.#uri = uri;
    this.#to = `<${uri}>`;
    this.#target = uri;
    const response = await this.#exchange('INVITE', sdp);
    if (response.status < 300) {
      this.#to = response.get('to') ?? '';
      this.#target = response.contact?.uri ?? uri;
    }
    this.#acknowledge();
    return response;
  }

  /** Sends a re-INVITE with a new offer. */
  async reinvite(sdp: string): Promise<SipMessage> {
    const response = await this.#exchange('INVITE', sdp);
    this.#acknowledge();
    return response;
  }

  async bye(): Promise<SipMessage> {
    return await this.#exchange('BYE');
  }

  async info(body: string): Promise<SipMessage> {
    return await this.#exchange('INFO', body, 'application/dtmf-relay');
  }

  /** Waits for a request of the server. */
  async expect(method: string): Promise<void> {
    await eventually(() => this.received.some((each) => kindOf(each) === method), method);
  }

  close(): void {
    this.webSocket.terminate();
  }

  async #exchange(method: string, body = '', type = 'application/sdp'): Promise<SipMessage> {
    this.#sequence += 1;
    const cseq = `${this.#sequence} ${method}`;
    this.#send(method, cseq, body, type);
    const find = () =>
      this.received.find((each) => each.status >= 200 && each.get('cseq') === cseq);
    await eventually(() => find() !== undefined, `the answer to ${cseq}`);
    return find() as SipMessage;
  }

  #acknowledge(): void {
    this.#send('ACK', `${this.#sequence} ACK`);
  }

  #send(method: string, cseq: string, body = '', type = 'application/sdp'): void {
    const request = new SipMessage();
    request.method = method;
    request.uri = method === 'INVITE' && !this.#to.includes('tag=') ? this.#uri : this.#target;
    request
      .add('via', `SIP/2.0/WS browser.invalid;branch=z9hG4bK${randomBytes(8).toString('hex')}`)
      .add('max-forwards', 70)
      .add('from', `<sip:operator@offhook.invalid>;tag=${this.#tag}`)
      .add('to', this.#to)
      .add('call-id', this.#callId)
      .add('cseq', cseq)
      .add('contact', '<sip:operator@browser.invalid;transport=ws>');
    if (body !== '') request.add('content-type', type);
    request.body = Buffer.from(body);
    this.webSocket.send(request.toBuffer().toString());
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) throw new TypeError('SIP came in a binary frame');
    const message = parseMessage(data);
    if (message.callId !== this.#callId) return;
    this.received.push(message);
    if (message.isRequest && message.method !== 'ACK') {
      this.webSocket.send(makeResponse(message, 200).toBuffer().toString());
    }
  }
}
