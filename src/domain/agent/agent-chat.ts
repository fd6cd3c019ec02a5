/** Trying an agent in writing: its words and its language model, without a call. */
import type { Account } from '../account/account.ts';
import type { Agent } from './agent.ts';

export const CHAT_LIMITS = { messagesMax: 50, textCharsMax: 4000 } as const;

/** What one side has written. */
export interface ChatLine {
  readonly role: 'user' | 'agent';
  readonly text: string;
}

export interface ChatReply {
  /** As the agent's voice would say it; empty where the model only asks for a tool. */
  readonly text: string;
  /** What the model wants to have done. Nobody did any of it. */
  readonly toolCalls: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
  /** Name of the language model that answered. */
  readonly model: string;
  /** False where fixed rules answered instead of a language model: the agent's prompt counted for nothing. */
  readonly isPromptUsed: boolean;
  readonly tookMs: number;
}

/** Answers as the agent would on a call that has gone so far. */
export interface AgentChat {
  /**
   * @param asked.messages the last one is the user's. The greeting comes before them unless the first is the agent's own.
   * @param asked.account whose agent it is.
   * @param asked.signal aborted when nobody waits for the answer any more: the model is stopped.
   * @returns null while as many answers as may be are being made.
   * @throws {ServiceError} SERVICE_UNAVAILABLE when the model fails, takes too long, or was stopped.
   */
  reply(asked: {
    readonly agent: Agent;
    readonly account: Account;
    readonly messages: readonly ChatLine[];
    readonly signal: AbortSignal;
  }): Promise<ChatReply | null>;
}
