/** Call from a browser to an agent; ends with its WebSocket. */
import { CALL_ID_HEADER } from '../../domain/call/live-sound.ts';
import type { AnswerOptions, IncomingCall, Leg, ReleaseCause } from '../carrier.ts';

interface BrowserCallOptions {
  /** The call as SIP knows it. */
  readonly incoming: IncomingCall;
  readonly from: string;
  readonly to: string;
  /** Called once, at the end of the call. */
  readonly onOver: () => void;
}

/** An incoming call from a browser. */
export class BrowserCall implements IncomingCall {
  readonly carrierCallSid: string;
  readonly from: string;
  readonly to: string;
  readonly #options: BrowserCallOptions;
  #leg: Leg | undefined;
  #isOver = false;
  #isCancelled = false;
  /** Set when the connection is lost, or the call is to end before it is answered. */
  #isGivenUp = false;
  #onCancelled: () => void = () => {};

  constructor(options: BrowserCallOptions) {
    const { incoming } = options;
    this.#options = options;
    this.carrierCallSid = incoming.carrierCallSid;
    this.from = options.from;
    this.to = options.to;
    incoming.onCancelled(() => this.#cancelled());
  }

  onCancelled(listener: () => void): void {
    this.#onCancelled = listener;
    if (this.#isCancelled) listener();
  }

  reject(sipStatus: number, options: { readonly retryAfterSeconds?: number } = {}): void {
    this.#options.incoming.reject(sipStatus, options);
    this.#over();
  }

  ring(): void {
    this.#options.incoming.ring();
  }

  /** The page gets the identifier of its call. */
  async answer({ callId }: AnswerOptions = {}): Promise<Leg> {
    const headers = callId === undefined ? {} : { [CALL_ID_HEADER]: callId };
    try {
      const leg = await this.#options.incoming.answer({ headers });
      this.#leg = leg;
      const ours = browserLeg(leg, {
        isLost: () => this.#isGivenUp,
        onReleased: () => this.#over(),
      });
      if (this.#isGivenUp) void leg.hangUp();
      return ours;
    } catch (error) {
      this.#over();
      throw error;
    }
  }

  /** Ends the call in any state. Resolves when the browser has confirmed. */
  async hangUp(): Promise<void> {
    if (this.#isOver) return;
    if (this.#leg !== undefined) return this.#leg.hangUp();
    this.#isGivenUp = true;
    this.#options.incoming.reject(480);
  }

  /** The connection is lost: BYE cannot be answered. */
  disconnected(): void {
    this.#isGivenUp = true;
    if (this.#leg === undefined) this.#options.incoming.reject(480);
    else void this.#leg.hangUp();
  }

  #cancelled(): void {
    this.#isCancelled = true;
    this.#over();
    this.#onCancelled();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onOver();
  }
}

/** A leg whose loss by a closed tab counts as a hang-up of the caller. */
function browserLeg(
  leg: Leg,
  options: { readonly isLost: () => boolean; readonly onReleased: () => void },
): Leg {
  let cause: ReleaseCause | undefined;
  let tell: (cause: ReleaseCause) => void = () => {};
  leg.onReleased((given) => {
    cause = options.isLost() ? { kind: 'far-end' } : given;
    options.onReleased();
    tell(cause);
  });
  return {
    audio: leg.audio,
    onReleased: (listener) => {
      tell = listener;
      if (cause !== undefined) listener(cause);
    },
    onDigit: (listener) => leg.onDigit(listener),
    record: (path) => leg.record(path),
    hangUp: () => leg.hangUp(),
    transfer: (number, transfer) => leg.transfer(number, transfer),
    bringIn: (number, transfer) => leg.bringIn(number, transfer),
  };
}
