/** Stand-ins for what drachtio-srf hands out, driven by the test. */
import { EventEmitter } from 'node:events';
import type { AudioEvent, AudioStream } from '../../src/media/audio-stream.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import type {
  SrfAnswer,
  SrfDialog,
  SrfMessageParts,
  SrfRequest,
  SrfResponse,
} from '../../src/telephony/drachtio/carrier/srf.ts';
import { type MediaEndpoint, MediaError } from '../../src/telephony/media-gateway.ts';
import { SilentSession } from './silent-lines.ts';

/** Our Contact as the call began with it. */
export const CONTACT = '<sip:203.0.113.10:5060>';

export interface MessageSettings {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function message({ headers = {}, body = '' }: MessageSettings) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const byName = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    get: (name: string) => byName.get(name.toLowerCase()),
    has: (name: string) => byName.has(name.toLowerCase()),
    body,
    payload: [{ type: byName.get('content-type') ?? null, content: body }],
    raw: ['SIP/2.0 200 OK', ...lines, '', body].join('\r\n'),
    source_address: '127.0.0.1',
    source_port: 5060,
    protocol: 'udp',
  };
}

export function response(status: number, settings: MessageSettings = {}): SrfResponse {
  return { ...message(settings), status };
}

export function request(
  settings: MessageSettings & Partial<Pick<SrfRequest, 'method' | 'source'>> = {},
): SrfRequest {
  const { method = 'INVITE', source = 'network' } = settings;
  const events = new EventEmitter();
  return {
    ...message(settings),
    method,
    source,
    uri: 'sip:+390612345678@127.0.0.1',
    stackTxnId: 'transaction-1',
    isNewInvite: true,
    on: (event, listener) => void events.on(event, listener),
  };
}

/** Keeps what was answered. */
export class KeptAnswer implements SrfAnswer {
  sent: { status: number; parts: SrfMessageParts } | undefined;

  send(status: number, parts: SrfMessageParts = {}): void {
    this.sent = { status, parts };
  }
}

type Answerer = (request: SrfMessageParts & { readonly method: string }) => Promise<SrfResponse>;

/** A dialog whose far end is the test. */
export class ScriptedDialog implements SrfDialog {
  readonly id = 'dialog-1';
  readonly type = 'uas';
  readonly sip = { callId: 'call-1', localTag: 'ours', remoteTag: 'theirs' };
  readonly req = request();
  readonly res = response(200);
  readonly local = { uri: 'sip:agent@127.0.0.1', sdp: '', contact: CONTACT };
  readonly remote = { uri: 'sip:caller@192.0.2.1:5060', sdp: '' };
  readonly sent: (SrfMessageParts & { readonly method: string })[] = [];
  readonly #events = new EventEmitter();
  readonly #answerer: Answerer;

  constructor(answerer: Answerer = async () => response(200)) {
    this.#answerer = answerer;
  }

  on(event: string, listener: (request: SrfRequest, answer: SrfAnswer) => void): void {
    this.#events.on(event, listener);
  }

  request(options: SrfMessageParts & { readonly method: string }): Promise<SrfResponse> {
    this.sent.push(options);
    return this.#answerer(options);
  }

  /** The far end sends a request. */
  receive(event: string, settings: MessageSettings & Partial<Pick<SrfRequest, 'source'>> = {}) {
    const answer = new KeptAnswer();
    this.#events.emit(event, request(settings), answer);
    return answer;
  }
}

/** An endpoint that agrees to everything but the text `unacceptable`. */
export class PlainEndpoint implements MediaEndpoint {
  readonly localSdp = 'our answer';
  readonly negotiated: string[] = [];
  readonly session = new SilentSession();
  isClosed = false;
  readonly #listeners: ((event: AudioEvent) => void)[] = [];
  readonly audio: AudioStream = {
    heard: new ReceiveRing(),
    onEvent: (listener) => void this.#listeners.push(listener),
    begin: () => undefined,
    say: () => undefined,
    finish: () => undefined,
    drop: () => undefined,
    resume: () => undefined,
    setPauseAfter: () => undefined,
    setPrivate: () => undefined,
    sendDigits: () => undefined,
    stats: () => Promise.reject(new Error('Cannot count packets: there are none')),
  };

  async negotiate(remoteSdp: string): Promise<string> {
    if (remoteSdp === 'unacceptable') throw new MediaError('no common codec', 488);
    this.negotiated.push(remoteSdp);
    return `answer to ${remoteSdp}`;
  }

  offer(): string {
    return 'our offer';
  }

  prepareMove(): () => Promise<void> {
    const before = this.negotiated.at(-1);
    return async () => void (before !== undefined && this.negotiated.push(before));
  }

  record(): void {}

  async close(): Promise<void> {
    this.isClosed = true;
  }

  report(event: AudioEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** A key as SIP INFO brings it. */
export function keyByInfo(digit: string): MessageSettings {
  return { headers: { 'Content-Type': 'application/dtmf-relay' }, body: `Signal=${digit}\r\n` };
}

/** Lets everything that is already resolved run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
