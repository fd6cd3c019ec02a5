/** What the demo's caller tells its parent process, one JSON object a line. */

export type CallerReport =
  | { readonly kind: 'answered' }
  | {
      readonly kind: 'said';
      readonly text: string;
      readonly isInterruption: boolean;
      readonly lastVoicedAtMs: number;
    }
  /** The agent's voice was heard again, `afterMs` after the caller's last voiced packet. */
  | { readonly kind: 'reply'; readonly afterMs: number }
  /** The agent fell silent, `afterMs` after the caller began to interrupt it. */
  | { readonly kind: 'stopped'; readonly afterMs: number }
  | { readonly kind: 'ended'; readonly cause: string };
