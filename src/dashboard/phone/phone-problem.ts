/** Why the phone in the page has no call, as one of few reasons that a reader can do something about; pure */

export type PhoneProblemKind =
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

export interface PhoneProblem {
  readonly kind: PhoneProblemKind;
  /** What the other side said, in its own words. */
  readonly detail?: string;
}

/** The phone cannot go on; whoever shows it knows the words for its `problem`. */
export class PhoneError extends Error {
  override readonly name = 'PhoneError';
  readonly problem: PhoneProblem;

  constructor(problem: PhoneProblem, options?: ErrorOptions) {
    super(`Cannot call: ${problem.kind}`, options);
    this.problem = problem;
  }
}

/** By the name of the `DOMException`. @see https://www.w3.org/TR/mediacapture-streams/ 10.2, getUserMedia */
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
  const kind = OF_MICROPHONE[name];
  return kind === undefined ? { kind: 'microphoneBusy', detail: message } : { kind };
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
  const kind = OF_HTTP[status];
  return kind === undefined ? { kind: 'refused', detail: message } : { kind };
}

const OF_SIP: Readonly<Record<number, PhoneProblemKind>> = {
  404: 'agentGone',
  // What a paused agent answers.
  480: 'agentPaused',
  486: 'serverFull',
  503: 'serverFull',
  600: 'serverFull',
};

/** Why the call was not answered. @param status of SIP, 300 and above. */
export function problemOfSip(status: number, reason: string): PhoneProblem {
  const kind = OF_SIP[status];
  return kind === undefined
    ? { kind: 'refused', detail: `SIP ${status} ${reason}`.trim() }
    : { kind };
}

/** Whatever was thrown. */
export function problemOf(error: unknown): PhoneProblem {
  if (error instanceof PhoneError) return error.problem;
  return { kind: 'refused', detail: error instanceof Error ? error.message : String(error) };
}
