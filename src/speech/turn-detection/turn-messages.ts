/** What the hearing thread and the turn detector's child process tell each other. */
import type { Loaded, LoadOrder, StopOrder } from '../stt/pool/child-keeper.ts';

/** To the child. `pcm` is what `TurnDetector.score` takes. */
export type ToTurnChild =
  | LoadOrder
  | StopOrder
  | { readonly kind: 'score'; readonly request: number; readonly pcm: Int16Array };

/** From the child. */
export type FromTurnChild =
  | Loaded
  | { readonly kind: 'scored'; readonly request: number; readonly probability: number }
  | { readonly kind: 'failed'; readonly request: number; readonly reason: string };
