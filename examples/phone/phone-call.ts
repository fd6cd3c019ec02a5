/** One answered call of the example telephone: its dialog and its sound. */
import { parseSdp } from '../../src/rtp/sdp.ts';
import { agree, answer, type LocalMedia, offer } from '../../src/rtp/sdp-answer.ts';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import type { DialogEnd } from '../../src/sip/dialog/dialog-core.ts';
import type { SipMessage } from '../../src/sip/message/message.ts';
import type { ServerReinvite, ServerRequest } from '../../src/sip/own-messages.ts';
import type { PhoneLine } from './phone-line.ts';

export class PhoneCall {
  readonly line: PhoneLine;
  /** The SIP dialog, for requests that a telephone has no key for. */
  readonly dialog: Dialog;
  /** Resolves when the call is over, whichever side ended it. */
  readonly ended: Promise<DialogEnd>;
  #media: LocalMedia;

  constructor(options: {
    readonly dialog: Dialog;
    readonly line: PhoneLine;
    readonly media: LocalMedia;
  }) {
    this.dialog = options.dialog;
    this.line = options.line;
    this.#media = options.media;
    const { promise, resolve } = Promise.withResolvers<DialogEnd>();
    this.ended = promise;
    this.dialog.on('ended', (end) => {
      this.line.close();
      resolve(end);
    });
    this.dialog.on('reinvite', (request) => this.#onReinvite(request));
    this.dialog.on('request', (request) => this.#onRequest(request));
  }

  /** Holds the far end, as the hold key of a telephone does. @returns the answer. */
  hold(): Promise<SipMessage> {
    return this.#reoffer('sendonly');
  }

  resume(): Promise<SipMessage> {
    return this.#reoffer('sendrecv');
  }

  /** Presses a key by SIP INFO, as some telephones do. @returns the status of the answer. */
  async pressByInfo(digit: string): Promise<number> {
    const body = `Signal=${digit}\r\nDuration=160\r\n`;
    const { status } = await this.dialog.request('INFO', {
      body,
      contentType: 'application/dtmf-relay',
    });
    return status;
  }

  async hangUp(): Promise<void> {
    await this.dialog.bye();
    await this.ended;
  }

  async #reoffer(direction: 'sendonly' | 'sendrecv'): Promise<SipMessage> {
    this.#media = { ...this.#media, version: this.#media.version + 1 };
    const body = offer(this.#media).replace('a=sendrecv', `a=${direction}`);
    const response = await this.dialog.reinvite({ body });
    if (response.status < 300) this.line.connect(agree(parseSdp(response.body.toString())));
    return response;
  }

  #onReinvite(request: ServerReinvite): void {
    const sdp = request.request.body.toString();
    if (sdp === '') {
      request.respond(200, { body: offer(this.#media) });
      return;
    }
    const theirs = parseSdp(sdp);
    this.#media = { ...this.#media, version: this.#media.version + 1 };
    request.respond(200, { body: answer(theirs, this.#media) });
    this.line.connect(agree(theirs));
  }

  #onRequest({ request, respond }: ServerRequest): void {
    respond(request.method === 'REFER' ? 603 : 200);
  }
}
