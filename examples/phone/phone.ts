/**
 * A small telephone for the demo, the tests and the benches: rings SIP addresses over UDP, TCP or TLS, speaks, listens.
 *
 * How to ring a server on this machine and say something:
 *
 *     const phone = new Phone({ number: '+15550100001' });
 *     await phone.start();
 *     const call = await phone.call('sip:+390612345678@127.0.0.1:5060');
 *     const { lastVoicedAtMs } = await call.line.speak(pcm); // Int16Array, 8 kHz, mono
 *     const reply = call.line.heard.filter(({ atMs, isVoiced }) => isVoiced && atMs > lastVoicedAtMs);
 *     await call.hangUp();
 *     await phone.stop();
 *
 * Or from a shell: `node examples/phone/ring.ts sip:+390612345678@127.0.0.1:5060 hello.wav heard.wav`.
 */

import { parseSdp } from '../../src/rtp/sdp.ts';
import { agree, answer, type LocalMedia, offer } from '../../src/rtp/sdp-answer.ts';
import { SdesKeys, type SrtpPolicy } from '../../src/rtp/srtp/sdes.ts';
import type { ClientInvite } from '../../src/sip/client-invite.ts';
import type { DigestClient } from '../../src/sip/digest.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { HeaderValues } from '../../src/sip/own-messages.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import type { Protocol } from '../../src/sip/transport/flow.ts';
import type { TlsSettings } from '../../src/sip/transport/tls-layer.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { PhoneCall } from './phone-call.ts';
import { PhoneLine } from './phone-line.ts';

/** The far end refused, or did not answer. */
export class PhoneError extends Error {
  override readonly name = 'PhoneError';
  readonly sipStatus: number;

  constructor(sipStatus: number) {
    super(`Cannot reach the far end: it said ${sipStatus}`);
    this.sipStatus = sipStatus;
  }
}

/** A call that we have dialled. */
export interface DialledCall {
  /** @throws {PhoneError} */
  readonly answered: Promise<PhoneCall>;
  readonly invite: ClientInvite;
}

/** Called for each incoming call. */
export interface RingingCall {
  readonly request: SipMessage;
  readonly invite: ServerInvite;
  ring(): void;
  /** Says 183 with a session description: early media, spoken on the line that comes back. */
  ringWithSound(): Promise<PhoneLine>;
  answer(): Promise<PhoneCall>;
  reject(status: number, headers?: HeaderValues): void;
}

export interface PhoneOptions {
  /** Whose telephone it is: the user part of its address. */
  readonly number?: string;
  /** IPv4 to bind to. */
  readonly address?: string;
  /** 0: any free port. */
  readonly port?: number;
  /** Certificates for TLS; without one of its own it only connects. */
  readonly tls?: TlsSettings;
  /** Whether its sound is encrypted; off when not given. */
  readonly srtp?: SrtpPolicy;
}

export interface CallOptions {
  readonly headers?: HeaderValues;
  readonly digest?: DigestClient;
  /** False: rings without a session description; the far end offers, and the ACK answers. */
  readonly hasOffer?: boolean;
  /** Whether keys may go as telephone-event; true when not given. Without it they are tones. */
  readonly hasKeyEvents?: boolean;
  /** Said instead of our own offer, to see how the far end takes it. */
  readonly sdp?: string;
}

/** An open port, its description, and its keys. */
interface OpenLine {
  readonly line: PhoneLine;
  readonly media: LocalMedia;
  readonly keys: SdesKeys;
}

export class Phone {
  readonly #number: string;
  readonly #address: string;
  readonly #agent: UserAgent;
  readonly #srtp: SrtpPolicy;
  #onRinging: (call: RingingCall) => void = ({ reject }) => reject(480);

  constructor(options: PhoneOptions = {}) {
    const { number = '+15550100001', address = '127.0.0.1', port = 0 } = options;
    const { tls, srtp = 'off' } = options;
    this.#number = number;
    this.#address = address;
    this.#srtp = srtp;
    this.#agent = new UserAgent({
      listen: [
        { protocol: 'UDP', address, port },
        { protocol: 'TCP', address, port },
        ...(tls ? ([{ protocol: 'TLS', address, port: 0 }] as const) : []),
      ],
      ...(tls && { tls }),
      product: 'offhook-phone',
    });
    this.#agent.on('invite', (invite) => this.#onRinging(this.#ringing(invite)));
  }

  start(): Promise<void> {
    return this.#agent.start();
  }

  stop(): Promise<void> {
    return this.#agent.stop();
  }

  /** Sets the one listener; without it every caller is told 480. */
  onRinging(listener: (call: RingingCall) => void): void {
    this.#onRinging = listener;
  }

  /** Where it can be reached. */
  hostPort(protocol: Protocol = 'UDP'): string {
    const found = this.#agent.addresses.find((address) => address.protocol === protocol);
    return `${found?.address}:${found?.port}`;
  }

  /**
   * Rings `sip:number@host:port`, with `;transport=tcp` over TCP or `;transport=tls` over TLS, and waits for the answer.
   *
   * @throws {PhoneError}
   */
  async call(uri: string, options: CallOptions = {}): Promise<PhoneCall> {
    const { answered } = await this.dial(uri, options);
    return answered;
  }

  /** Rings, and leaves the waiting, or the giving up, to the caller. */
  async dial(uri: string, options: CallOptions = {}): Promise<DialledCall> {
    const { hasOffer = true, hasKeyEvents = true, sdp, ...parts } = options;
    const { line, media, keys } = await this.#openLine();
    const ours = offer(this.#offered(media, keys));
    const invite = this.#agent.invite({
      ...parts,
      uri,
      from: `<sip:${this.#number}@${this.#address}>`,
      acknowledge: hasOffer ? 'automatic' : 'manual',
      ...(hasOffer && { body: sdp ?? (hasKeyEvents ? ours : withoutKeyEvents(ours)) }),
    });
    const answered = this.#outcomeOf(invite, { line, media, keys }, hasOffer);
    answered.catch(() => line.close());
    return { invite, answered };
  }

  async #outcomeOf(
    invite: ClientInvite,
    { line, media, keys }: OpenLine,
    hasOffer: boolean,
  ): Promise<PhoneCall> {
    const { response, dialog } = await invite.outcome;
    if (dialog === null) throw new PhoneError(response.status);
    const call = new PhoneCall({ dialog, line, media });
    const theirs = parseSdp(response.body.toString(), { srtp: this.#srtp });
    const { cryptoLines = [] } = theirs;
    const ours = { ...media, cryptoLines: keys.answer(cryptoLines) };
    if (!hasOffer) await dialog.ack({ body: answer(theirs, ours) });
    line.connect({ ...agree(theirs), srtp: keys.agree(cryptoLines) });
    return call;
  }

  #offered(media: LocalMedia, keys: SdesKeys): LocalMedia {
    if (this.#srtp === 'off') return media;
    const protocol = this.#srtp === 'required' ? 'RTP/SAVP' : 'RTP/AVP';
    return { ...media, cryptoLines: keys.offer(), protocol };
  }

  async #openLine(): Promise<OpenLine> {
    const line = new PhoneLine();
    await line.open(this.#address);
    const media = { address: this.#address, port: line.port, sessionId: 1, version: 1 };
    return { line, media, keys: new SdesKeys() };
  }

  #ringing(invite: ServerInvite): RingingCall {
    const theirs = parseSdp(invite.request.body.toString(), { srtp: this.#srtp });
    const { cryptoLines = [] } = theirs;
    const opened = this.#openLine();
    invite.on('cancelled', () => void opened.then(({ line }) => line.close()));
    const connect = async () => {
      const { line, media, keys } = await opened;
      line.connect({ ...agree(theirs), srtp: keys.agree(cryptoLines) });
      const ours = { ...media, cryptoLines: keys.answer(cryptoLines) };
      return { line, media, body: answer(theirs, ours) };
    };
    return {
      invite,
      request: invite.request,
      ring: () => void invite.progress(180),
      ringWithSound: async () => {
        const { body, line } = await connect();
        invite.progress(183, { body });
        return line;
      },
      answer: async () => {
        const { line, media, body } = await connect();
        const { dialog } = invite.accept({ body });
        return new PhoneCall({ dialog, line, media });
      },
      reject: (status, headers = {}) => {
        invite.reject(status, { headers });
        void opened.then(({ line }) => line.close());
      },
    };
  }
}

/** The description without telephone-event. */
function withoutKeyEvents(sdp: string): string {
  const [, type] = /^a=rtpmap:(\d+) telephone-event/m.exec(sdp) ?? [];
  const lines = sdp
    .split('\r\n')
    .filter((line) => !/^a=(rtpmap|fmtp):/.test(line) || !line.includes(`:${type} `));
  return lines
    .map((line) => (line.startsWith('m=audio') ? line.replace(` ${type}`, '') : line))
    .join('\r\n');
}
