/** State of the phone in the page, its changes by events, and the keys of a telephone (DTMF); pure */

export type PhoneStatus = 'idle' | 'asking' | 'connecting' | 'ringing' | 'talking' | 'ended';

export interface PhoneState {
  readonly status: PhoneStatus;
  /** Id of the call in the server's record; null until it is answered. */
  readonly callId: string | null;
  /** Milliseconds of the page's clock; null until somebody answered. */
  readonly answeredAtMs: number | null;
  readonly endedAtMs: number | null;
  /** The party that ended the call; null while it is in progress. */
  readonly endedBy: 'here' | 'there' | null;
  /** Problem that prevented or ended the call; null without one. */
  readonly problem: PhoneProblem | null;
  readonly isMuted: boolean;
  /** Keys pressed in this call, the newest at the end. */
  readonly pressed: string;
}

export type PhoneEvent =
  | { readonly kind: 'dialled' }
  | { readonly kind: 'heard' }
  | { readonly kind: 'rang' }
  | { readonly kind: 'answered'; readonly callId: string | null; readonly atMs: number }
  | { readonly kind: 'muted'; readonly isMuted: boolean }
  | { readonly kind: 'pressed'; readonly digit: string }
  | { readonly kind: 'hungUp'; readonly by: 'here' | 'there'; readonly atMs: number }
  | { readonly kind: 'failed'; readonly problem: PhoneProblem; readonly atMs: number };

export const AT_REST: PhoneState = {
  status: 'idle',
  callId: null,
  answeredAtMs: null,
  endedAtMs: null,
  endedBy: null,
  problem: null,
  isMuted: false,
  pressed: '',
};

/** Keys that stay to be seen. */
const PRESSED_MAX = 32;

const NEXT: Readonly<Record<PhoneStatus, readonly PhoneStatus[]>> = {
  idle: ['asking', 'ended'],
  asking: ['connecting', 'ended'],
  connecting: ['ringing', 'talking', 'ended'],
  ringing: ['talking', 'ended'],
  talking: ['ended'],
  ended: ['asking', 'ended'],
};

/** Whether a call is being made or in progress, so that leaving would end it. */
export function isBusy({ status }: PhoneState): boolean {
  return status !== 'idle' && status !== 'ended';
}

/** The state after an event; late and repeated events change nothing. */
export function afterPhoneEvent(state: PhoneState, event: PhoneEvent): PhoneState {
  switch (event.kind) {
    case 'dialled':
      return moved(state, 'asking', AT_REST);
    case 'heard':
      return moved(state, 'connecting', {});
    case 'rang':
      return moved(state, 'ringing', {});
    case 'answered':
      return moved(state, 'talking', { callId: event.callId, answeredAtMs: event.atMs });
    case 'muted':
      return isBusy(state) ? { ...state, isMuted: event.isMuted } : state;
    case 'pressed':
      if (state.status !== 'talking') return state;
      return { ...state, pressed: `${state.pressed}${event.digit}`.slice(-PRESSED_MAX) };
    case 'hungUp':
      if (!isBusy(state)) return state;
      return moved(state, 'ended', { endedBy: event.by, endedAtMs: event.atMs });
    case 'failed':
      if (state.status === 'ended') return state;
      return moved(state, 'ended', { problem: event.problem, endedAtMs: event.atMs });
    default:
      return event satisfies never;
  }
}

function moved(state: PhoneState, status: PhoneStatus, change: Partial<PhoneState>): PhoneState {
  return NEXT[state.status].includes(status) ? { ...state, ...change, status } : state;
}

/** How long both have been talking, in milliseconds; 0 before the answer. */
export function talkedMs({ answeredAtMs, endedAtMs }: PhoneState, nowMs: number): number {
  return answeredAtMs === null ? 0 : Math.max(0, (endedAtMs ?? nowMs) - answeredAtMs);
}

type PhoneProblemKind =
  | 'insecure'
  | 'unsupported'
  | 'noMicrophone'
  | 'microphoneRefused'
  | 'microphoneBusy'
  | 'microphoneLost'
  | 'signedOut'
  | 'agentGone'
  | 'agentPaused'
  | 'serverFull'
  | 'unreachable'
  | 'socketRefused'
  | 'socketLost'
  | 'soundBlocked'
  | 'refused';

/** A problem of the phone in the page, as one of few kinds that a reader can do something about */
export interface PhoneProblem {
  readonly kind: PhoneProblemKind;
  /** Message of the other side, in its own words. */
  readonly detail?: string;
}

/** The phone cannot go on; the page has a text for each `problem`. */
export class PhoneError extends Error {
  override readonly name = 'PhoneError';
  readonly problem: PhoneProblem;

  constructor(problem: PhoneProblem, options?: ErrorOptions) {
    super(`Cannot call: ${problem.kind}`, options);
    this.problem = problem;
  }
}

function problem(known: PhoneProblemKind | undefined, otherwise: PhoneProblem): PhoneProblem {
  return known === undefined ? otherwise : { kind: known };
}

/** Problems of a microphone by the name of the `DOMException`. @see https://www.w3.org/TR/mediacapture-streams/ 10.2, getUserMedia */
const OF_MICROPHONE: Readonly<Record<string, PhoneProblemKind>> = {
  NotAllowedError: 'microphoneRefused',
  SecurityError: 'microphoneRefused',
  NotFoundError: 'noMicrophone',
  OverconstrainedError: 'noMicrophone',
  NotReadableError: 'microphoneBusy',
  AbortError: 'microphoneBusy',
};

/** Why the microphone could not be opened. */
export function problemOfMicrophone(error: unknown): PhoneProblem {
  const { name = '', message = '' } = (error ?? {}) as { name?: string; message?: string };
  return problem(OF_MICROPHONE[name], { kind: 'microphoneBusy', detail: message });
}

const OF_HTTP: Readonly<Record<number, PhoneProblemKind>> = {
  0: 'unreachable',
  401: 'signedOut',
  404: 'agentGone',
  429: 'serverFull',
  503: 'serverFull',
};

/** Why the server gave no ticket. @param status of HTTP; 0 where there was no answer. */
export function problemOfTicket(status: number, message: string): PhoneProblem {
  return problem(OF_HTTP[status], { kind: 'refused', detail: message });
}

const OF_SIP: Readonly<Record<number, PhoneProblemKind>> = {
  404: 'agentGone',
  // Response of a paused agent.
  480: 'agentPaused',
  486: 'serverFull',
  503: 'serverFull',
  600: 'serverFull',
};

/** Why the call was not answered. @param status of SIP, 300 and above. */
export function problemOfSip(status: number, reason: string): PhoneProblem {
  return problem(OF_SIP[status], { kind: 'refused', detail: `SIP ${status} ${reason}`.trim() });
}

/** The thrown value. */
export function problemOf(error: unknown): PhoneProblem {
  if (error instanceof PhoneError) return error.problem;
  return { kind: 'refused', detail: error instanceof Error ? error.message : String(error) };
}

/** Row by row. */
export const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'] as const;

/** How long a key sounds, and the pause after it. RFC 4733 says 40 ms at least; machines that listen want more. */
export const TONE_MS = 160;
export const GAP_MS = 80;

/** The telephone's key for one of the keyboard's; undefined where there is none. */
export function keyOf(typed: string): string | undefined {
  return KEYS.find((key) => key === typed);
}

/** The body of a SIP INFO of type `application/dtmf-relay`. */
export function dtmfRelay(digit: string): string {
  return `Signal=${digit}\r\nDuration=${TONE_MS}\r\n`;
}
