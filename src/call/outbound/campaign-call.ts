/** Makes the calls of a campaign: each joins the queue of outbound calls in the transaction that binds its contact. */
import type { Account, Environment, Plan } from '../../domain/account/account.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call } from '../../domain/call/call.ts';
import type { Campaign, Contact } from '../../domain/campaign/campaign.ts';
import type { OwnerOf } from '../../domain/dialing/number-owner.ts';
import {
  callingNumber,
  type DialQueue,
  QUEUED_CALLS_MAX,
  queueCall,
  requireOutbound,
} from '../../domain/dialing/outbound-rules.ts';
import type { NewId } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { RunTransaction, Stores } from '../../domain/stores.ts';
import type { Clock } from '../../lib/clock.ts';

/** Longest outage of a trunk during which its campaign waits, in seconds. */
const CALL_WAIT_SECONDS = 86_400;

/** Dependencies of placing one call of a campaign. */
export interface CampaignCallParts {
  readonly stores: {
    readonly accounts: Pick<Stores['accounts'], 'find'>;
    readonly agents: Pick<Stores['agents'], 'find' | 'findByPhoneNumber'>;
    readonly campaigns: Stores['campaigns'];
  };
  readonly transaction: RunTransaction;
  readonly dialQueues: Readonly<Record<Environment, DialQueue>>;
  readonly ownerOf: OwnerOf;
  readonly plansWithoutOutbound: readonly Plan[];
  readonly newId: NewId;
  readonly clock: Clock;
}

/** Who calls, and for whom. */
export interface CampaignCaller {
  readonly agent: Agent;
  readonly account: Account;
}

/** `full`: the queue takes no more calls for now; `gone`: the campaign or the contact has changed meanwhile. */
export type CampaignCallResult = 'called' | 'refused' | 'full' | 'gone';

/** Agent and account of a campaign; else why it cannot go on, in a sentence. */
export async function callerOf(
  { accountId, agentId, environment, from }: Campaign,
  parts: CampaignCallParts,
): Promise<CampaignCaller | string> {
  const { accounts, agents } = parts.stores;
  const account = await accounts.find(accountId);
  const agent = await agents.find({ accountId, environment }, agentId);
  if (account === undefined || agent === undefined) return 'The agent was deleted.';
  if (agent.status === 'paused') return `The agent "${agent.name}" is paused.`;
  try {
    requireOutbound(account, parts.plansWithoutOutbound);
    await callingNumber({ from: from ?? undefined }, { agent, ...rulesOf(agent, parts) });
  } catch (error) {
    if (error instanceof ServiceError) return `${error.message}.`;
    throw error;
  }
  return { agent, account };
}

/** Puts one call to a pending contact into the queue, or writes down why the dial policy refuses it. */
export async function makeCall(
  contact: Contact,
  from: CampaignCaller & { readonly campaign: Campaign },
  parts: CampaignCallParts,
): Promise<CampaignCallResult> {
  try {
    return await queueOnce(await callTo(contact, from, parts), contact, parts);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refusal = { state: 'refused', reason: `${error.message}.` } as const;
    const refused = await parts.stores.campaigns.closePending(contact.campaignId, refusal, [
      contact.position,
    ]);
    return refused === 1 ? 'refused' : 'gone';
  }
}

/** @throws {ServiceError} when the number may not be called. */
function callTo(
  { to, metadata, overrides }: Contact,
  { agent, account, campaign }: CampaignCaller & { readonly campaign: Campaign },
  parts: CampaignCallParts,
): Promise<Call> {
  const { clock, newId } = parts;
  const window = {
    notAfter: campaign.notAfterAt ?? undefined,
    expiresInSeconds: CALL_WAIT_SECONDS,
  };
  return queueCall(
    { to, from: campaign.from ?? undefined, metadata, overrides, ...window },
    { id: newId('call'), now: clock.now(), agent, account, ...rulesOf(agent, parts) },
  );
}

/** A crash leaves both, the call and its bond to the contact, or neither. */
function queueOnce(
  call: Call,
  contact: Contact,
  { transaction }: CampaignCallParts,
): Promise<CampaignCallResult> {
  return transaction(async ({ calls, campaigns }) => {
    const campaign = await campaigns.findById(contact.campaignId);
    if (campaign?.status !== 'running') return 'gone';
    if ((await calls.countQueued(call.environment, 'outbound')) >= QUEUED_CALLS_MAX) return 'full';
    if (!(await campaigns.claim(contact, call.id))) return 'gone';
    await calls.insert(call, []);
    return 'called';
  });
}

function rulesOf({ environment }: Agent, { dialQueues, ownerOf, stores }: CampaignCallParts) {
  return {
    hasTrunkFor: (number: string) => dialQueues[environment].hasTrunkFor(number),
    ownerOf,
    holderOf: (number: string) => stores.agents.findByPhoneNumber(number),
  };
}
