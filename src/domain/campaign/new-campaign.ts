/** Makes the records of a campaign from a request; pure */
import type { Agent } from '../agent/agent.ts';
import {
  CAMPAIGN_LIMITS,
  type Campaign,
  checkCampaignWindow,
  type NewContact,
} from './campaign.ts';
import { type ContactDraft, readContacts } from './contact-list.ts';

/** A campaign as customers ask for it, of the right types and lengths. */
export interface CampaignDraft {
  readonly name: string;
  readonly contacts?: readonly ContactDraft[] | undefined;
  readonly csv?: string | undefined;
  readonly from?: string | undefined;
  readonly callsPerMinute: number;
  readonly maxConcurrentCalls: number;
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
  readonly retries?: { readonly max: number; readonly delaySeconds: number } | undefined;
}

/** @throws {ServiceError} VALIDATION_ERROR naming every wrong row, or when the window is wrong. */
export function newCampaign(
  draft: CampaignDraft,
  { id, agent, now }: { readonly id: string; readonly agent: Agent; readonly now: Date },
): { readonly campaign: Campaign; readonly contacts: readonly NewContact[] } {
  const { name, from = null, callsPerMinute, maxConcurrentCalls, notBefore, notAfter } = draft;
  checkCampaignWindow({ notBefore, notAfter }, now);
  const campaign: Campaign = {
    id,
    accountId: agent.accountId,
    environment: agent.environment,
    agentId: agent.id,
    ...{ name, from, callsPerMinute, maxConcurrentCalls },
    status: 'running',
    statusReason: null,
    notBeforeAt: notBefore ?? null,
    notAfterAt: notAfter ?? null,
    retriesMax: draft.retries?.max ?? 0,
    retryDelaySeconds: draft.retries?.delaySeconds ?? CAMPAIGN_LIMITS.retryDelaySeconds.default,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
  };
  const contacts = readContacts(draft).map(({ to, metadata = {}, overrides = {} }) => ({
    ...{ to, metadata, overrides },
  }));
  return { campaign, contacts };
}
