/** A carrier's far end on a UDP socket that answers each request as a test says, or not at all. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** A request as it came in. */
export interface CarrierRequest {
  readonly method: string;
  readonly uri: string;
  /** Value of the first header of that name. */
  header(name: string): string;
  readonly from: RemoteInfo;
}

/** What is answered; `headers` replace those that follow from the request. */
export interface CarrierAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Script = (request: CarrierRequest) => CarrierAnswer | undefined;

/** Started by `startCarrier`. */
export class ScriptedCarrier {
  readonly #socket: Socket;
  readonly requests: CarrierRequest[] = [];
  script: Script;

  constructor(socket: Socket, script: Script) {
    this.#socket = socket;
    this.script = script;
    socket.on('message', (bytes, from) => this.#receive(bytes.toString(), from));
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get hostPort(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Requests of a method so far. */
  of(method: string): readonly CarrierRequest[] {
    return this.requests.filter((request) => request.method === method);
  }

  async stop(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #receive(text: string, from: RemoteInfo): void {
    const [, method, uri] = /^(\S+) (\S+) SIP\/2\.0\r\n/.exec(text) ?? [];
    if (method === undefined || uri === undefined) return;
    const header = (name: string) => new RegExp(`^${name}: *(.*?)\\r$`, 'im').exec(text)?.[1] ?? '';
    const request = { method, uri, header, from };
    this.requests.push(request);
    const answer = this.script(request);
    if (answer !== undefined)
      this.#socket.send(responseTo(request, answer), from.port, from.address);
  }
}

function responseTo(
  request: CarrierRequest,
  { status, headers, body = '' }: CarrierAnswer,
): string {
  const { address, port } = request.from;
  const via = request.header('Via').replace(/;rport(?=;|$)/, '');
  const all = {
    Via: `${via};received=${address};rport=${port}`,
    From: request.header('From'),
    To: `${request.header('To')};tag=far`,
    'Call-ID': request.header('Call-ID'),
    CSeq: request.header('CSeq'),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return [`SIP/2.0 ${status} Scripted`, ...lines, length, '', body].join('\r\n');
}

/** Challenges for the user `joe` and takes any answer that names the password's digest user. */
export const REGISTRAR: Script = (request) => {
  if (request.method !== 'REGISTER') return { status: 200 };
  if (request.header('Authorization') === '') return CHALLENGE;
  return { status: 200, headers: { Contact: request.header('Contact'), Expires: '300' } };
};

/** 401 with a digest challenge. */
export const CHALLENGE: CarrierAnswer = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Digest realm="carrier", nonce="n1", qop="auth"' },
};

/** Listens on a free port of 127.0.0.1, or the given one. */
export async function startCarrier(script: Script, port = 0): Promise<ScriptedCarrier> {
  const socket = createSocket('udp4');
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return new ScriptedCarrier(socket, script);
}
