/** Changes to an agent that are saved and not live yet, and the contract of the store that keeps them. */
import { ServiceError } from '../service-error.ts';
import type { Agent, ChangedBy, Scope } from './agent.ts';
import { type AgentPatch, patchAgent } from './agent-rules.ts';

/** The draft of one agent. */
export interface SavedDraft {
  /** What publishing changes; at least one field. */
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
