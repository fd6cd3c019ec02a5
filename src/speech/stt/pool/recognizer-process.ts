/** A recogniser's child process as the hearing thread holds it. */

import { forkModelChild, type ModelChild } from './child-keeper.ts';
import type { FromChild, ToChild } from './recognizer.ts';

export type RecognizerProcess = ModelChild<ToChild, FromChild>;

/** Starts a child; it loads nothing before the message `load`. */
export function forkRecognizer(): RecognizerProcess {
  return forkModelChild(new URL('./recognizer-child.ts', import.meta.url));
}
