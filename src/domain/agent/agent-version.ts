/** What agents were like after each change, how one goes back to that, and the contract of the store that keeps it. */
import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../account/account.ts';
import { laterThan } from '../ids.ts';
import type { Agent, ChangedBy, Scope } from './agent.ts';

/** An agent keeps its newest versions. */
export const AGENT_VERSIONS_KEPT = 50;

/** Everything of an agent that can be changed. */
export type AgentContent = Omit<
  Agent,
  'id' | 'accountId' | 'environment' | 'createdAt' | 'updatedAt'
>;

export interface AgentVersion {
  /** Counted from 1, which is the agent as it was made. */
  readonly version: number;
  readonly at: Date;
  readonly by: ChangedBy;
  /** Names of the fields that differ from the version before; those of settings as `settings.interruptible`. */
  readonly changed: readonly string[];
  /** As the agent was from then on. */
  readonly agent: AgentContent;
}

export interface AgentVersionPage {
  readonly versions: readonly AgentVersion[];
  /** How many are kept. */
  readonly total: number;
}

/** Reads what the store of agents keeps of every change, in the transaction of the change. */
export interface AgentVersionStore {
  /** Newest first; none where the agent is not of the scope. */
  list(
    scope: Scope,
    agentId: string,
    page: { readonly limit: number; readonly offset: number },
  ): AgentVersionPage;

  find(scope: Scope, agentId: string, version: number): AgentVersion | undefined;
}

/** Names of the fields in which two states of an agent differ, as `AgentVersion.changed` has them. */
export function changedFields(before: AgentContent, after: AgentContent): readonly string[] {
  const { settings: settingsBefore, ...restBefore } = contentOf(before);
  const { settings, ...rest } = contentOf(after);
  return [
    ...differing(restBefore, rest),
    ...differing(settingsBefore, settings).map((name) => `settings.${name}`),
  ];
}

/** The agent as it was, but active or paused as it is: that is a matter of now, and not of its words. */
export function restoreAgent(agent: Agent, { agent: then }: AgentVersion, now: Date): Agent {
  const { status, updatedAt } = agent;
  return { ...agent, ...then, status, updatedAt: laterThan(updatedAt, now) };
}

/** Without what no change touches, whatever more the object has. */
function contentOf(agent: AgentContent): AgentContent {
  const { name, greeting, systemPrompt, voice, language, phoneNumber } = agent;
  const { tools, settings, status } = agent;
  return { name, greeting, systemPrompt, voice, language, phoneNumber, tools, settings, status };
}

function differing<Fields extends object>(before: Fields, after: Fields): string[] {
  const names = Object.keys(after) as (keyof Fields & string)[];
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

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
