/** What the turn machine wants done; pure */
import type { ChatMessage, ToolCall } from '../../llm/language-model.ts';
import type { TranscriptionPriority } from '../../speech/hearing/hearing.ts';
import type { ConversationEvent } from '../conversation-port.ts';
import type { TurnTimer } from './turn-event.ts';

export type TurnEffect =
  | { readonly kind: 'listen'; readonly fromMs: number }
  | { readonly kind: 'stop-listening' }
  | {
      readonly kind: 'transcribe';
      readonly attempt: number;
      readonly priority: TranscriptionPriority;
    }
  | { readonly kind: 'cancel-transcription' }
  /** Asks the model for (more of) a reply. */
  | { readonly kind: 'ask'; readonly reply: number; readonly messages: readonly ChatMessage[] }
  /** Turns one clause of a reply into audio, after the clauses before it. */
  | {
      readonly kind: 'voice';
      readonly reply: number;
      readonly clause: number;
      readonly text: string;
    }
  /** Lets a reply's audio out, now and as it comes. */
  | { readonly kind: 'release'; readonly reply: number }
  /** Keeps a reply's audio in again; none of it has left yet. */
  | { readonly kind: 'hold'; readonly reply: number }
  /** The reply has no more clauses. */
  | { readonly kind: 'finish'; readonly reply: number }
  /** Stops thinking, voicing and playing a reply. */
  | { readonly kind: 'drop'; readonly reply: number }
  | { readonly kind: 'resume'; readonly reply: number }
  | { readonly kind: 'run-tool'; readonly reply: number; readonly call: ToolCall }
  | { readonly kind: 'set-interruptible'; readonly isInterruptible: boolean }
  | { readonly kind: 'set-timer'; readonly timer: TurnTimer; readonly delayMs: number }
  | { readonly kind: 'cancel-timer'; readonly timer: TurnTimer }
  | { readonly kind: 'emit'; readonly event: ConversationEvent }
  /** The conversation is over: stop everything. */
  | { readonly kind: 'close' };
