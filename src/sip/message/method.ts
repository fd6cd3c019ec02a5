/** Which methods exist, and which of them the engine serves; pure */

/** @see IANA, Session Initiation Protocol parameters, methods */
const KNOWN = new Set([
  'ACK',
  'BYE',
  'CANCEL',
  'INFO',
  'INVITE',
  'MESSAGE',
  'NOTIFY',
  'OPTIONS',
  'PRACK',
  'PUBLISH',
  'REFER',
  'REGISTER',
  'SUBSCRIBE',
  'UPDATE',
]);

/** What the engine answers itself or hands to the application, as Allow lists it. */
export const SERVED_METHODS = [
  'INVITE',
  'ACK',
  'CANCEL',
  'BYE',
  'OPTIONS',
  'UPDATE',
  'PRACK',
  'INFO',
  'REFER',
  'NOTIFY',
] as const;

const SERVED: ReadonlySet<string> = new Set(SERVED_METHODS);

/** Whether the method is registered; methods are told apart by case. */
export function isKnownMethod(method: string): boolean {
  return KNOWN.has(method);
}

export function isServedMethod(method: string): boolean {
  return SERVED.has(method);
}
