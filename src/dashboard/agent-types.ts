/** Versions of agents, and trying them by writing, as the API has them; pure */
import type { Agent } from './api-types.ts';

/** What a version keeps of an agent. */
export type AgentContent = Pick<
  Agent,
  | 'name'
  | 'greeting'
  | 'systemPrompt'
  | 'voice'
  | 'language'
  | 'phoneNumber'
  | 'tools'
  | 'settings'
  | 'status'
>;

export interface AgentVersion {
  readonly version: number;
  readonly at: string;
  readonly by: 'api' | 'dashboard';
  /** Names of fields such as `greeting` or `settings.interruptible`; none for the first version. */
  readonly changed: readonly string[];
  readonly agent: AgentContent;
}

export interface ChatMessage {
  readonly role: 'user' | 'agent';
  readonly text: string;
}

/** A tool that the agent would have used on a call. */
export interface ChatToolCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly ran: false;
}

export interface ChatAnswer {
  readonly reply: string;
  readonly toolCalls: readonly ChatToolCall[];
  readonly model: string;
  /** False where fixed rules answered: the agent's instructions counted for nothing. */
  readonly promptUsed: boolean;
  readonly tookMs: number;
}
