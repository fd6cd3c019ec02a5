/** Versions of agents, drafts of changes that are not live yet, and the contracts of their stores. */
import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../account/account.ts';
import { laterThan, type Page, type PageRange } from '../ids.ts';
import { ServiceError } from '../service-error.ts';
import type { Agent, ChangedBy, Scope } from './agent.ts';
import { type AgentPatch, patchAgent } from './agent-rules.ts';

/** An agent keeps its newest versions. */
export const AGENT_VERSIONS_KEPT = 50;

/** The fields of an agent that can be changed. */
export type AgentContent = Omit<
  Agent,
  'id' | 'accountId' | 'environment' | 'createdAt' | 'updatedAt'
>;

/** An agent as it was after one change. */
export interface AgentVersion {
  /** Counted from 1, which is the agent as it was made. */
  readonly version: number;
  readonly at: Date;
  readonly by: ChangedBy;
  /** Names of the fields that differ from the version before; those of settings as `settings.interruptible`. */
  readonly changed: readonly string[];
  /** The agent after the change. */
  readonly agent: AgentContent;
}

/** Reads the versions that the agent store writes with each change. */
export interface AgentVersionStore {
  /** Newest first; none where the agent is not of the scope. */
  list(scope: Scope, agentId: string, page: PageRange): Promise<Page<AgentVersion>>;

  find(scope: Scope, agentId: string, version: number): Promise<AgentVersion | undefined>;
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

/** Restores a version; the status (active or paused) stays as it is. */
export function restoreAgent(agent: Agent, { agent: then }: AgentVersion, now: Date): Agent {
  const { status, updatedAt } = agent;
  return { ...agent, ...then, status, updatedAt: laterThan(updatedAt, now) };
}

/** The fields that a change can touch. */
function contentOf(agent: AgentContent): AgentContent {
  const { name, greeting, systemPrompt, voice, language, phoneNumber } = agent;
  const { tools, responsiveness, model, smsGateway, calendar, settings, status } = agent;
  const { extract, successCriteria } = agent;
  const words = { name, greeting, systemPrompt };
  const handling = { tools, responsiveness, model, smsGateway, calendar };
  const afterwards = { extract, successCriteria };
  return { ...words, voice, language, phoneNumber, ...handling, ...afterwards, settings, status };
}

function differing<Fields extends object>(before: Fields, after: Fields): string[] {
  const names = Object.keys(after) as (keyof Fields & string)[];
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

/** Limits of a chat with an agent in text. */
export const CHAT_LIMITS = { messagesMax: 50, textCharsMax: 4000 } as const;

/** One message of a chat. */
export interface ChatLine {
  readonly role: 'user' | 'agent';
  readonly text: string;
}

/** The agent's answer in a chat, with the tool calls that a call would have run. */
export interface ChatReply {
  /** Text as the agent's voice would say it; empty where the model only asks for a tool. */
  readonly text: string;
  /** Tool calls of the model; none of them was run. */
  readonly toolCalls: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
  /** Name of the language model that answered. */
  readonly model: string;
  /** False where fixed rules answered instead of a language model, without the agent's prompt. */
  readonly isPromptUsed: boolean;
  /** From the request until the model was asked: tools and passages of documents were found. */
  readonly preparedMs: number;
  /** From the request until the model's first word or tool call. */
  readonly firstTokenMs: number;
  readonly tookMs: number;
}

/** Answers as the agent would on a call that has gone so far. */
export interface AgentChat {
  /**
   * @param asked.messages the last one is the user's. The greeting comes before them unless the first is the agent's own.
   * @param asked.account whose agent it is.
   * @param asked.signal aborts the request to the model, because the client is gone.
   * @returns null while too many answers are being made.
   * @throws {ServiceError} SERVICE_UNAVAILABLE when the model fails, takes too long, or was stopped.
   */
  reply(asked: {
    readonly agent: Agent;
    readonly account: Account;
    readonly messages: readonly ChatLine[];
    readonly signal: AbortSignal;
  }): Promise<ChatReply | null>;
}

/** The draft of one agent. */
export interface SavedDraft {
  /** Fields that publishing changes; at least one. */
  readonly changes: AgentPatch;
  /** `updatedAt` of the agent that the changes were made from. */
  readonly basedOnAt: Date;
  readonly by: ChangedBy;
  /** Later than any `updatedAt` of the draft before, and than `basedOnAt`. */
  readonly updatedAt: Date;
}

/** Keeps at most one draft per agent; it goes with its agent. */
export interface SavedDraftStore {
  /** Undefined where there is none, or the agent is not of the scope. */
  find(scope: Scope, agentId: string): Promise<SavedDraft | undefined>;

  /** Replaces the draft of an agent that exists. */
  save(agentId: string, draft: SavedDraft): Promise<void>;

  /** Does nothing where there is none. */
  delete(agentId: string): Promise<void>;
}

/**
 * The agent with its draft, for trying it. Its number and status stay the live ones: a trial neither calls from a number that the
 * agent does not have, nor wakes a paused agent.
 */
export function agentOnTrial(agent: Agent, { changes }: SavedDraft, now: Date): Agent {
  const { phoneNumber: _number, status: _status, ...tried } = changes;
  return Object.keys(tried).length === 0 ? agent : patchAgent(agent, tried, now);
}

/** @throws {ServiceError} NOT_FOUND when there is none. */
export function existingDraft(draft: SavedDraft | undefined): SavedDraft {
  if (draft === undefined) {
    throw new ServiceError('NOT_FOUND', 'Cannot find the draft: the agent has none');
  }
  return draft;
}
