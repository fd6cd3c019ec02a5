/** The turn detector's child process as the hearing thread holds it. */

import { forkModelChild, type ModelChild } from '../stt/pool/child-keeper.ts';
import type { FromTurnChild, ToTurnChild } from './turn-messages.ts';

export type TurnProcess = ModelChild<ToTurnChild, FromTurnChild>;

/** Starts a child; it loads nothing before the message `load`. */
export function forkTurnDetector(): TurnProcess {
  return forkModelChild(new URL('./turn-child.ts', import.meta.url));
}
