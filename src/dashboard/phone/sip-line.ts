/** One call by SIP over a WebSocket of its own. @see RFC 7118 */
import { Inviter } from 'sip.js/lib/api/inviter.js';
import type { SessionDescriptionHandlerFactory } from 'sip.js/lib/api/session-description-handler-factory.js';
import { SessionState } from 'sip.js/lib/api/session-state.js';
import { UserAgent } from 'sip.js/lib/api/user-agent.js';
import type { IncomingResponse } from 'sip.js/lib/core/messages/incoming-response.js';
import type { Line, LineListener, PhoneTicket } from './phone.ts';
import {
  dtmfRelay,
  PhoneError,
  type PhoneProblem,
  problemOf,
  problemOfSip,
} from './phone-state.ts';

/** The server names the call in its answer. */
const CALL_ID_HEADER = 'X-Service-Call';

const CONNECT_SECONDS_MAX = 10;

/** Wait for the response to a BYE; after it the socket closes, which ends the call as well. */
const GOODBYE_MS_MAX = 1500;

/** The sound of a call; SIP only carries its descriptions. */
export interface LineMedia {
  readonly factory: SessionDescriptionHandlerFactory;
  /** False where the other side takes no RFC 4733; then digits go by INFO. */
  readonly sendTone: (digit: string) => boolean;
  /** Sets the listener for a broken media connection. */
  readonly onBroken: (listener: () => void) => void;
  /** Safe to call twice. */
  readonly close: () => void;
}

/** Opens the socket and sends the INVITE. @throws {PhoneError} when no socket came about. */
export async function openSipLine(
  ticket: PhoneTicket,
  media: LineMedia,
  listener: LineListener,
): Promise<Line> {
  const line = new SipLine(ticket, media, listener);
  await line.start();
  return line;
}

class SipLine implements Line {
  readonly #media: LineMedia;
  readonly #listener: LineListener;
  readonly #agent: UserAgent;
  readonly #inviter: Inviter;
  #isAnswered = false;
  #isOver = false;

  constructor(ticket: PhoneTicket, media: LineMedia, listener: LineListener) {
    this.#media = media;
    this.#listener = listener;
    const [from, to] = [`sip:browser@${ticket.domain}`, ticket.uri].map((uri) =>
      UserAgent.makeURI(uri),
    );
    if (from === undefined || to === undefined) throw new TypeError(`No SIP URI: "${ticket.uri}"`);
    this.#agent = new UserAgent({
      uri: from,
      transportOptions: {
        server: ticket.url,
        connectionTimeout: CONNECT_SECONDS_MAX,
        traceSip: false,
      },
      // Callers' words and numbers must not get into a console.
      logBuiltinEnabled: false,
      userAgentString: 'Offhook',
      sessionDescriptionHandlerFactory: media.factory,
      delegate: { onDisconnect: (error) => this.#onDisconnect(error) },
    });
    this.#inviter = new Inviter(this.#agent, to);
  }

  /** @throws {PhoneError} when no socket came about. */
  async start(): Promise<void> {
    try {
      await this.#agent.start();
    } catch (error) {
      this.#isOver = true;
      this.#stop();
      throw new PhoneError({ kind: 'socketRefused' }, { cause: error });
    }
    this.#inviter.stateChange.addListener((state) => this.#onState(state));
    this.#media.onBroken(() => this.#end({ kind: 'soundBlocked' }));
    const requestDelegate = {
      // 100 Trying does not come here.
      onProgress: () => this.#listener.onRinging(),
      onAccept: ({ message }: IncomingResponse) => this.#onAccept(message),
      onReject: ({ message }: IncomingResponse) =>
        this.#end(problemOfSip(message.statusCode ?? 500, message.reasonPhrase ?? '')),
    };
    this.#inviter
      .invite({ requestDelegate })
      .catch((error: unknown) => this.#end(problemOf(error)));
  }

  /** Comes when the session is established, and also when the answer could not be used. */
  #onAccept(message: IncomingResponse['message']): void {
    if (!this.#isAnswered) return;
    this.#listener.onAnswered(message.getHeader(CALL_ID_HEADER) ?? null);
  }

  /** A session that was never answered ends just before its reason arrives; the reason is reported instead. */
  #onState(state: SessionState): void {
    if (state === SessionState.Established) this.#isAnswered = true;
    if (state !== SessionState.Terminated) return;
    if (this.#isAnswered) this.#end(null);
    else queueMicrotask(() => this.#end({ kind: 'refused', detail: 'no usable answer' }));
  }

  async press(digit: string): Promise<void> {
    if (this.#media.sendTone(digit)) return;
    const body = {
      contentDisposition: 'render',
      contentType: 'application/dtmf-relay',
      content: dtmfRelay(digit),
    };
    await this.#inviter.info({ requestOptions: { body } });
  }

  async hangUp(): Promise<void> {
    this.#isOver = true;
    await this.#sayGoodbye();
    this.#stop();
  }

  /** Ends with BYE or CANCEL, whichever it is time for. */
  async #sayGoodbye(): Promise<void> {
    const { state } = this.#inviter;
    if (state === SessionState.Terminated) return;
    const isOver = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GOODBYE_MS_MAX);
      this.#inviter.stateChange.addListener((next) => {
        if (next !== SessionState.Terminated) return;
        clearTimeout(timer);
        resolve();
      });
    });
    const said = state === SessionState.Established ? this.#inviter.bye() : this.#inviter.cancel();
    // A socket that is gone carries no goodbye, and needs none.
    await said.catch(() => undefined);
    await isOver;
  }

  #onDisconnect(error: Error | undefined): void {
    if (error !== undefined) this.#end({ kind: 'socketLost' });
  }

  #end(problem: PhoneProblem | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnded(problem);
  }

  #stop(): void {
    this.#media.close();
    this.#agent.stop().catch(() => undefined);
  }
}
