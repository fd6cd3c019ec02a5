/** Campaigns: calls to a list of numbers at a pace; their states, limits, and the contract of the store. */
import { DAY_MS, type Notifier } from '../../lib/clock.ts';
import type { Agent, Scope } from '../agent/agent.ts';
import type { Call, CallOverrides, CallStatus, EndReason } from '../call/call.ts';
import { WINDOW_DAYS_MAX } from '../dialing/dial-window.ts';
import type { Page, PageRange, Unset } from '../ids.ts';
import { bodyFault, conflict } from '../service-error.ts';

/** Limits of POST /api/campaigns. */
export const CAMPAIGN_LIMITS = {
  contactsMax: 10_000,
  callsPerMinute: { min: 1, default: 10, max: 600 },
  maxConcurrentCalls: { min: 1, default: 5, max: 100 },
  retriesMax: 5,
  retryDelaySeconds: { min: 10, default: 900, max: 86_400 },
  /** Campaigns of an account and environment that are not over. */
  unfinishedMax: 100,
} as const;

/** `running` includes the time before `notBefore`. */
export const CAMPAIGN_STATUSES = ['running', 'paused', 'completed', 'cancelled'] as const;

/** A state of a campaign; `MOVES` has the transitions that customers ask for. */
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

/** `refused`: the dial policy allows no call to the number. */
export const CONTACT_STATES = [
  'pending',
  'calling',
  'completed',
  'failed',
  'refused',
  'cancelled',
] as const;

/** A state of a contact. */
export type ContactState = (typeof CONTACT_STATES)[number];

/** The record of a campaign. */
export interface Campaign {
  /** `camp_…`. */
  readonly id: string;
  readonly accountId: string;
  readonly environment: Scope['environment'];
  readonly agentId: string;
  readonly name: string;
  readonly status: CampaignStatus;
  /** Why the server paused it: a sentence for customers. Null otherwise. */
  readonly statusReason: string | null;
  /** Calling number; null for the agent's own. */
  readonly from: string | null;
  readonly callsPerMinute: number;
  readonly maxConcurrentCalls: number;
  readonly notBeforeAt: Date | null;
  readonly notAfterAt: Date | null;
  /** Further calls to a number that was busy or did not answer. */
  readonly retriesMax: number;
  readonly retryDelaySeconds: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly endedAt: Date | null;
}

/** One number of a campaign's list. */
export interface Contact {
  readonly campaignId: string;
  /** Row in the list, from 1. */
  readonly position: number;
  readonly to: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly overrides: Unset<Omit<CallOverrides, 'sipHeaders'>>;
  readonly state: ContactState;
  /** Calls that were made to it. */
  readonly attempts: number;
  /** Id of its newest call; null before the first, and where that call was erased. */
  readonly callId: string | null;
  /** End reason of its newest call that ended. */
  readonly endReason: EndReason | null;
  /** Why it was refused, failed or waits: a sentence for customers. */
  readonly reason: string | null;
  /** The next call is made from then on. */
  readonly dueAt: Date;
}

/** A contact of a campaign that is being made. */
export type NewContact = Pick<Contact, 'to' | 'metadata' | 'overrides'>;

/** How many contacts are in which state, and how their newest calls ended. */
export interface ContactCounts extends Readonly<Record<ContactState, number>> {
  readonly total: number;
  readonly byEndReason: Readonly<Partial<Record<EndReason, number>>>;
}

/** The newest call of a contact, as far as the campaign needs it; undefined where it was erased. */
export type ContactCall = Pick<Call, 'endReason' | 'failureReason'> & {
  readonly status: CallStatus;
};

/** Keeps campaigns and their contacts. Every method is one transaction, and may run inside another. */
export interface CampaignStore {
  /** Notifies after a campaign was made or changed. */
  readonly notifier: Notifier;

  /**
   * Saves a campaign with its list; all contacts are pending, and due from `notBefore`.
   *
   * @throws {ServiceError} CONFLICT when too many campaigns of the scope are not over.
   */
  insert(campaign: Campaign, contacts: readonly NewContact[]): Promise<void>;

  update(campaign: Campaign): Promise<void>;

  /** With its contacts; their calls stay. */
  delete(id: string): Promise<void>;

  find(scope: Scope, id: string): Promise<Campaign | undefined>;

  /** Finds a campaign of any account. */
  findById(id: string): Promise<Campaign | undefined>;

  /** Newest first. */
  list(
    scope: Scope,
    query: PageRange & { readonly status?: CampaignStatus | undefined },
  ): Promise<Page<Campaign>>;

  /** Running campaigns of all accounts and both environments. */
  running(): Promise<readonly Campaign[]>;

  counts(id: string): Promise<ContactCounts>;

  /** How many contacts are in state `calling`, and whether any is `pending`. */
  open(id: string): Promise<{ readonly calling: number; readonly hasPending: boolean }>;

  /** Whether a contact of any campaign is in state `calling`. */
  isAnyCalling(): Promise<boolean>;

  /** In the order of the list. */
  contacts(
    id: string,
    query: PageRange & { readonly state?: ContactState | undefined },
  ): Promise<Page<Contact>>;

  /** Pending contacts whose time has come, in the order in which they are due. */
  due(id: string, now: Date, limit: number): Promise<readonly Contact[]>;

  /** Pending contacts that wait until after `latest`, in the same order. */
  dueAfter(id: string, latest: Date, limit: number): Promise<readonly Contact[]>;

  /** Contacts in state `calling`, with their calls. */
  calling(id: string): Promise<readonly (Contact & { readonly callStatus: CallStatus | null })[]>;

  /** Contacts of any campaign in state `calling` whose call is over or erased. */
  over(limit: number): Promise<readonly { contact: Contact; call: ContactCall | undefined }[]>;

  saveContact(contact: Contact): Promise<void>;

  /** Binds a pending contact to a new call, which is saved in the same transaction. @returns false where it is not pending any more. */
  claim(contact: Contact, callId: string): Promise<boolean>;

  /** Puts pending contacts off. */
  postpone(
    id: string,
    positions: readonly number[],
    until: { readonly dueAt: Date; readonly reason: string },
  ): Promise<void>;

  /** Ends all pending contacts, or those at some positions. @returns how many. */
  closePending(
    id: string,
    as: Pick<Contact, 'state' | 'reason'>,
    positions?: readonly number[],
  ): Promise<number>;
}

/** Change of state that a customer may request of a campaign. */
export type CampaignMove = 'pause' | 'resume' | 'cancel';

const MOVES: Readonly<
  Record<CampaignMove, { readonly from: readonly CampaignStatus[]; readonly to: CampaignStatus }>
> = {
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  cancel: { from: ['running', 'paused'], to: 'cancelled' },
};

/** @throws {ServiceError} CONFLICT where its state forbids the move. */
export function moveCampaign(campaign: Campaign, move: CampaignMove, now: Date): Campaign {
  const { from, to } = MOVES[move];
  if (!from.includes(campaign.status)) {
    throw conflict(`Cannot ${move} the campaign "${campaign.name}": it is ${campaign.status}`);
  }
  const endedAt = to === 'cancelled' ? now : null;
  return { ...campaign, status: to, statusReason: null, endedAt, updatedAt: now };
}

/** The server pauses a campaign that cannot go on. @param reason a sentence. */
export function pausedBecause(campaign: Campaign, reason: string, now: Date): Campaign {
  return { ...campaign, status: 'paused', statusReason: reason, updatedAt: now };
}

/** @throws {ServiceError} CONFLICT while it runs. */
export function refuseRunning({ name, status }: Campaign): void {
  if (status !== 'running') return;
  throw conflict(`Cannot delete the campaign "${name}": it is running; pause or cancel it first`);
}

/** @throws {ServiceError} CONFLICT when the agent is paused. */
export function requireActive(agent: Agent): void {
  if (agent.status !== 'paused') return;
  const why = `the agent "${agent.name}" is paused; activate it first`;
  throw conflict(`Cannot run the campaign: ${why}`);
}

/** @throws {ServiceError} VALIDATION_ERROR when the window is over, upside down or too far ahead. */
export function checkCampaignWindow(
  { notBefore, notAfter }: { readonly notBefore?: Date | undefined; notAfter?: Date | undefined },
  now: Date,
): void {
  const lastAt = new Date(now.getTime() + WINDOW_DAYS_MAX * DAY_MS);
  const tooFar = `must be within ${WINDOW_DAYS_MAX} days from now`;
  if (notBefore !== undefined && notBefore > lastAt) throw bodyFault('notBefore', tooFar);
  if (notAfter === undefined) return;
  if (notAfter > lastAt) throw bodyFault('notAfter', tooFar);
  if (notAfter <= now) throw bodyFault('notAfter', 'must not be in the past');
  if (notBefore !== undefined && notAfter <= notBefore) {
    throw bodyFault('notAfter', 'must be after notBefore');
  }
}
