/** Keeps us known to a registrar: REGISTER, refreshed, retried and taken back. RFC 3261, 10.2. */
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Clock } from '../lib/clock.ts';
import { DigestClient } from './digest/digest.ts';
import { parseDecimal } from './message/char-class.ts';
import type { SipMessage } from './message/message.ts';
import { parseNameAddr } from './message/name-addr.ts';
import { faultOf } from './message/sip-error.ts';
import { Tokens } from './message/tokens.ts';
import { parseUri } from './message/uri.ts';
import { doNothing } from './nothing.ts';
import type { Credentials } from './outgoing.ts';
import type { UserAgent } from './user-agent.ts';

export interface RegistrationOptions {
  readonly userAgent: Pick<UserAgent, 'request'>;
  readonly clock: Clock;
  /** URI of the registrar, such as `sip:example.com`. */
  readonly registrar: string;
  /** Who is registered, such as `sip:trunk@example.com`. */
  readonly addressOfRecord: string;
  readonly credentials: Credentials;
  /** Default: 600,000. */
  readonly expiresMs?: number;
  readonly contactUser?: string;
  readonly route?: readonly string[];
  readonly tokens?: Tokens;
}

export interface RegistrationEvents {
  /** Each time; for how long, and when the next REGISTER goes out. */
  registered: [{ readonly expiresMs: number; readonly nextMs: number }];
  /** Each time; the last response (408 and 503 made here), and when the next REGISTER goes out. */
  failed: [{ readonly response: SipMessage; readonly nextMs: number }];
}

const EXPIRES_MS = 600_000;
/** A registrar that grants next to nothing is not asked more often than that. */
const REFRESH_MS_MIN = 10_000;
const RETRY_MS_FIRST = 30_000;
const RETRY_MS_MAX = 1_800_000;
/** A registrar that raises its minimum for ever is left alone. */
const BRIEF_RETRIES_MAX = 2;
/** A registrar that is gone must not hold up the end of the process. */
const STOP_MS_MAX = 2000;
const SECONDS_MAX = 0xffffffff;

export class Registration extends EventEmitter<RegistrationEvents> {
  readonly #options: RegistrationOptions;
  readonly #digest: DigestClient;
  readonly #tokens: Tokens;
  readonly #callId: string;
  readonly #from: string;
  #sequence = 0;
  #contactUri: string | undefined;
  #expiresMs: number;
  #failures = 0;
  #isStarted = false;
  #isRegistered = false;
  #running: Promise<void> = Promise.resolve();
  #cancelNext: () => void = doNothing;

  /** @throws {SipError} 400 or 416 when registrar or address are no URIs that can be registered with. */
  constructor(options: RegistrationOptions) {
    super();
    parseUri(options.registrar);
    parseUri(options.addressOfRecord);
    const { credentials } = options;
    this.#options = options;
    this.#tokens = options.tokens ?? new Tokens((count) => randomBytes(count));
    this.#digest = new DigestClient({ credentialsFor: () => credentials });
    this.#callId = this.#tokens.callId();
    this.#from = `<${options.addressOfRecord}>;tag=${this.#tokens.tag()}`;
    this.#expiresMs = options.expiresMs ?? EXPIRES_MS;
  }

  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /** Registers now, and again before each expiry, until `stop`. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#running = this.#register();
  }

  /** Takes the registration back, waiting two seconds at most. Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.#isStarted) return;
    this.#isStarted = false;
    this.#cancelNext();
    const goodbye = this.#running.then(async () => {
      if (this.#isRegistered) await this.#send(0);
      this.#isRegistered = false;
    });
    let cancelWait: () => void = doNothing;
    const enough = new Promise<void>((resolve) => {
      cancelWait = this.#options.clock.after(STOP_MS_MAX, resolve);
    });
    await Promise.race([goodbye, enough]);
    cancelWait();
  }

  async #register(): Promise<void> {
    let response = await this.#send(this.#expiresMs);
    for (let retries = 0; response.status === 423 && retries < BRIEF_RETRIES_MAX; retries++) {
      const minMs = secondsToMs(response.get('min-expires'));
      if (minMs === undefined || minMs <= this.#expiresMs) break;
      this.#expiresMs = minMs;
      response = await this.#send(this.#expiresMs);
    }
    if (response.status < 300) this.#succeeded(response);
    else this.#failed(response);
  }

  #succeeded(response: SipMessage): void {
    this.#failures = 0;
    this.#isRegistered = true;
    const expiresMs = this.#grantedMs(response);
    // Not all at once when many registered together, and well before the end.
    const nextMs = Math.max(REFRESH_MS_MIN, expiresMs) * (0.75 + 0.1 * this.#tokens.fraction());
    this.#schedule(nextMs);
    this.emit('registered', { expiresMs, nextMs });
  }

  #failed(response: SipMessage): void {
    const backOffMs = Math.min(RETRY_MS_MAX, RETRY_MS_FIRST * 2 ** this.#failures);
    const jitteredMs = backOffMs * (0.5 + 0.5 * this.#tokens.fraction());
    const askedMs = secondsToMs(response.get('retry-after')) ?? 0;
    const nextMs = Math.min(RETRY_MS_MAX, Math.max(jitteredMs, askedMs));
    this.#failures += 1;
    this.#isRegistered = false;
    this.#schedule(nextMs);
    this.emit('failed', { response, nextMs });
  }

  #schedule(waitMs: number): void {
    if (!this.#isStarted) return;
    this.#cancelNext = this.#options.clock.after(waitMs, () => {
      this.#running = this.#register();
    });
  }

  async #send(expiresMs: number): Promise<SipMessage> {
    const { userAgent, registrar, addressOfRecord, contactUser, route } = this.#options;
    return await userAgent.request({
      method: 'REGISTER',
      uri: registrar,
      from: this.#from,
      to: `<${addressOfRecord}>`,
      callId: this.#callId,
      sequence: this.#sequence + 1,
      digest: this.#digest,
      headers: { Expires: String(Math.ceil(expiresMs / 1000)) },
      onSent: (request) => {
        this.#sequence = request.cseq.seq;
        this.#contactUri = request.contact?.uri;
      },
      ...(contactUser !== undefined && { contactUser }),
      ...(route !== undefined && { route }),
    });
  }

  /** What the registrar granted: `expires` of our own Contact, else Expires, else our wish. */
  #grantedMs(response: SipMessage): number {
    const own = response.list('contact').flatMap((value) => {
      const contact = faultOf(() => parseNameAddr(value)) ? undefined : parseNameAddr(value);
      const isOurs = contact !== undefined && contact.uri === this.#contactUri;
      return isOurs ? (secondsToMs(contact.params.get('expires') ?? undefined) ?? []) : [];
    });
    const grantedMs = own[0] ?? secondsToMs(response.get('expires'));
    return grantedMs !== undefined && grantedMs > 0 ? grantedMs : this.#expiresMs;
  }
}

function secondsToMs(text: string | undefined): number | undefined {
  const [digits = ''] = (text ?? '').split(/[;( ]/, 1);
  const seconds = parseDecimal(digits, SECONDS_MAX);
  return seconds === undefined ? undefined : seconds * 1000;
}
