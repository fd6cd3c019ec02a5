/** The phone in the page: one call at a time, from the microphone to the hang-up, and the microphones to choose from. */
import {
  AT_REST,
  afterPhoneEvent,
  isBusy,
  type PhoneEvent,
  type PhoneProblem,
  type PhoneState,
  problemOf,
} from './phone-state.ts';

/** The server's ticket for one call. */
export interface PhoneTicket {
  /** Address of the WebSocket, with the ticket in its query. */
  readonly url: string;
  /** Whom to call, such as `sip:agent_1@offhook.invalid`. */
  readonly uri: string;
  readonly domain: string;
}

/**
 * Address of the phone's WebSocket, as seen from the page: the server may be reached by another name than its own, below a
 * path that a proxy has put it at.
 *
 * @param url as the server gave it, with the ticket in its query.
 * @param pageUrl the page's own address.
 */
export function socketAddress(url: string, pageUrl: string): string {
  const address = new URL(`dashboard/sip${new URL(url).search}`, pageUrl);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return address.href;
}

/** A microphone that is open; `stop` it, or the browser goes on showing that it listens. */
export interface Microphone {
  mute(isMuted: boolean): void;
  /** How loud it is now, -90…0. */
  levelDbfs(): number;
  /** Takes another one in its place. @throws {PhoneError} */
  change(deviceId: string): Promise<void>;
  stop(): void;
}

/** One call. */
export interface Line {
  /** Resolves when the tone is on its way. */
  press(digit: string): Promise<void>;
  /** Ends the call, its media and its connection. Never rejects; safe to call twice. */
  hangUp(): Promise<void>;
}

export interface LineListener {
  readonly onRinging: () => void;
  /** @param callId id of the call in the server's record; null if the server did not send it. */
  readonly onAnswered: (callId: string | null) => void;
  /** Called once at the end of the call; the problem is null after a BYE. */
  readonly onEnded: (problem: PhoneProblem | null) => void;
}

/** Dependencies of the phone. */
export interface PhoneParts<Mic extends Microphone> {
  /** @param onLost called when it was unplugged. @throws {PhoneError} */
  readonly openMicrophone: (deviceId: string, onLost: () => void) => Promise<Mic>;
  /** @throws {PhoneError} */
  readonly askTicket: () => Promise<PhoneTicket>;
  /** @throws {PhoneError} when no socket came about. */
  readonly openLine: (
    ticket: PhoneTicket,
    microphone: Mic,
    listener: LineListener,
  ) => Promise<Line>;
  readonly nowMs: () => number;
  readonly onState: (state: PhoneState) => void;
}

/** Resources of one call; an attempt that is over has none. */
interface Attempt {
  microphone: Microphone | undefined;
  line: Line | undefined;
}

export class Phone<Mic extends Microphone> {
  readonly #parts: PhoneParts<Mic>;
  #state: PhoneState = AT_REST;
  #attempt: Attempt | undefined;

  constructor(parts: PhoneParts<Mic>) {
    this.#parts = parts;
  }

  get state(): PhoneState {
    return this.#state;
  }

  /** How loud the microphone is, -90…0; undefined while none is open. */
  get levelDbfs(): number | undefined {
    return this.#attempt?.microphone?.levelDbfs();
  }

  /** Asks for the microphone, then calls. Errors are in the state. @param deviceId '' for the browser's choice. */
  async call(deviceId: string): Promise<void> {
    if (isBusy(this.#state)) return;
    const attempt: Attempt = { microphone: undefined, line: undefined };
    this.#attempt = attempt;
    this.#move({ kind: 'dialled' });
    try {
      await this.#dial(attempt, deviceId);
    } catch (error) {
      this.#fail(attempt, problemOf(error));
    }
  }

  /** Ends the call in any state; safe to call twice. */
  hangUp(): void {
    const atMs = this.#parts.nowMs();
    if (this.#attempt !== undefined) this.#end(this.#attempt, { kind: 'hungUp', by: 'here', atMs });
  }

  mute(isMuted: boolean): void {
    this.#attempt?.microphone?.mute(isMuted);
    this.#move({ kind: 'muted', isMuted });
  }

  /** @throws {PhoneError} when it cannot be opened; the previous one stays in use. */
  async changeMicrophone(deviceId: string): Promise<void> {
    await this.#attempt?.microphone?.change(deviceId);
  }

  press(digit: string): void {
    const line = this.#attempt?.line;
    if (line === undefined || this.#state.status !== 'talking') return;
    this.#move({ kind: 'pressed', digit });
    // A tone that is lost can be pressed again: the call goes on.
    line.press(digit).catch(() => undefined);
  }

  /** Each step may find that the reader has hung up meanwhile. */
  async #dial(attempt: Attempt, deviceId: string): Promise<void> {
    const { openMicrophone, askTicket, openLine } = this.#parts;
    const onLost = () => this.#fail(attempt, { kind: 'microphoneLost' });
    const microphone = await openMicrophone(deviceId, onLost);
    if (this.#attempt !== attempt) return microphone.stop();
    attempt.microphone = microphone;
    if (this.#state.isMuted) microphone.mute(true);
    this.#move({ kind: 'heard' });
    const ticket = await askTicket();
    if (this.#attempt !== attempt) return;
    const line = await openLine(ticket, microphone, this.#listener(attempt));
    if (this.#attempt !== attempt) return line.hangUp();
    attempt.line = line;
  }

  #listener(attempt: Attempt): LineListener {
    const move = (event: PhoneEvent) => {
      if (this.#attempt === attempt) this.#move(event);
    };
    return {
      onRinging: () => move({ kind: 'rang' }),
      onAnswered: (callId) => move({ kind: 'answered', callId, atMs: this.#parts.nowMs() }),
      onEnded: (problem) => {
        if (problem !== null) return this.#fail(attempt, problem);
        this.#end(attempt, { kind: 'hungUp', by: 'there', atMs: this.#parts.nowMs() });
      },
    };
  }

  #fail(attempt: Attempt, problem: PhoneProblem): void {
    this.#end(attempt, { kind: 'failed', problem, atMs: this.#parts.nowMs() });
  }

  #end(attempt: Attempt, event: PhoneEvent): void {
    if (this.#attempt !== attempt) return;
    this.#attempt = undefined;
    attempt.microphone?.stop();
    void attempt.line?.hangUp();
    this.#move(event);
  }

  #move(event: PhoneEvent): void {
    const next = afterPhoneEvent(this.#state, event);
    if (next === this.#state) return;
    this.#state = next;
    this.#parts.onState(next);
  }
}

export interface MicrophoneDevice {
  readonly deviceId: string;
  /** Empty until the page has been allowed to use a microphone. */
  readonly label: string;
}

interface Device extends MicrophoneDevice {
  readonly kind: string;
}

/** The microphones by name; empty while the browser tells no names, because then it tells no ids either. */
export function microphonesOf(devices: readonly Device[]): readonly MicrophoneDevice[] {
  return devices
    .filter(({ kind, deviceId, label }) => kind === 'audioinput' && deviceId !== '' && label !== '')
    .map(({ deviceId, label }) => ({ deviceId, label }));
}

/** The one chosen before where it is still there, else the browser's own choice: ''. */
export function chosenOf(microphones: readonly MicrophoneDevice[], remembered: string): string {
  return microphones.some(({ deviceId }) => deviceId === remembered) ? remembered : '';
}
