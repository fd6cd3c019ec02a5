/** Runs campaigns: makes their due calls at their pace, and takes in how the calls ended. */
import { type Campaign, type Contact, pausedBecause } from '../../domain/campaign/campaign.ts';
import { contactAfter } from '../../domain/campaign/contact-outcome.ts';
import { type CallingHours, countryOf, nextOpening } from '../../domain/dialing/calling-hours.ts';
import { hoursHold } from '../../domain/dialing/dial-window.ts';
import { callingHoursOf } from '../../domain/dialing/outbound-rules.ts';
import type { Logger } from '../../lib/logger.ts';
import { Repeater } from '../../lib/repeater.ts';
import {
  type CampaignCaller,
  type CampaignCallParts,
  callerOf,
  makeCall,
} from './campaign-call.ts';

/** How long to wait for the end of calls, room in the queue, or the database, before looking again. */
const LOOK_AGAIN_MS = 1000;

/** Interval at which a campaign that has not begun is checked: the clock may be set. */
const NOT_BEGUN_MS = 60_000;

/** Contacts of a campaign that one look goes through, and calls that one look takes in: each is a write. */
const CONTACTS_A_LOOK = 20;

/** Pause before the rest of a longer list, so that conversations have the thread for most of the time. */
const BREATH_MS = 20;

/** Interval at which contacts outside the calling hours are checked again: the account may change its hours. */
const HOURS_ASKED_AGAIN_MS = 600_000;

interface CampaignRunnerParts extends CampaignCallParts {
  /** Counts the contacts of live campaigns whose turn came. */
  readonly counts: { readonly reached: (result: 'called' | 'refused') => void };
  readonly log: Logger;
}

/** Runs the campaigns of all accounts, in both environments. All progress is in the database and survives a restart. */
export class CampaignRunner {
  readonly #parts: CampaignRunnerParts;
  readonly #looks: Repeater;
  /** Paces of running campaigns, by campaign id. */
  readonly #paces = new Map<string, CampaignPace>();
  /** Time of the next look by campaign id, on `Clock.nowMs`: slow campaigns are skipped while a fast one is due. */
  readonly #nextLooksMs = new Map<string, number>();
  #startedAt = new Date(0);
  #unlisten: () => void = () => undefined;
  #isDraining = false;

  constructor(parts: CampaignRunnerParts) {
    this.#parts = parts;
    this.#looks = new Repeater({ clock: parts.clock, run: () => this.#look() });
  }

  start(): void {
    this.#startedAt = this.#parts.clock.now();
    this.#unlisten = this.#parts.stores.campaigns.notifier.listen(() => this.#looks.ask());
    this.#looks.ask();
  }

  /** Makes no more calls. */
  drain(): void {
    this.#isDraining = true;
    this.#unlisten();
  }

  /** Calls `drain`, and waits for the pass in progress. Safe to call twice. */
  async stop(): Promise<void> {
    this.drain();
    await this.#looks.stop();
  }

  /** Never rejects. @returns when to look again, in milliseconds; undefined while there is nothing to do. */
  async #look(): Promise<number | undefined> {
    try {
      return await this.#advance();
    } catch (error) {
      this.#parts.log.error({ err: error }, 'campaigns could not go on, will retry');
      return LOOK_AGAIN_MS;
    }
  }

  async #advance(): Promise<number | undefined> {
    const { campaigns } = this.#parts.stores;
    const taken = await this.#takeInEnds();
    const running = this.#isDraining ? [] : await campaigns.running();
    const ids = new Set(running.map(({ id }) => id));
    for (const known of [this.#paces, this.#nextLooksMs]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
    let delayMs = taken === CONTACTS_A_LOOK ? BREATH_MS : LOOK_AGAIN_MS;
    for (const campaign of running) {
      if (this.#isDraining) break;
      delayMs = Math.min(delayMs, await this.#lookAt(campaign));
    }
    if (running.length > 0 || (await campaigns.isAnyCalling())) return delayMs;
    return undefined;
  }

  /** Takes in the calls that are over. @returns how many. */
  async #takeInEnds(): Promise<number> {
    const { clock, stores, transaction } = this.#parts;
    // Most looks find none, and need no write lock.
    if ((await stores.campaigns.over(1)).length === 0) return 0;
    return transaction(async ({ campaigns }) => {
      const over = await campaigns.over(CONTACTS_A_LOOK);
      for (const { contact, call } of over) {
        const campaign = await campaigns.findById(contact.campaignId);
        if (campaign === undefined) continue;
        await campaigns.saveContact(contactAfter(contact, call, { campaign, now: clock.now() }));
      }
      return over.length;
    });
  }

  /** One campaign that cannot go on stops no other. @returns when to look at it again, in milliseconds. */
  async #lookAt(campaign: Campaign): Promise<number> {
    const { clock, log } = this.#parts;
    const { id } = campaign;
    const waitMs = (this.#nextLooksMs.get(id) ?? 0) - clock.nowMs();
    if (waitMs > 0) return waitMs;
    let delayMs = LOOK_AGAIN_MS;
    try {
      delayMs = Math.max(BREATH_MS, await this.#step(campaign));
    } catch (error) {
      log.error({ campaignId: id, err: error }, 'campaign could not go on, will retry');
    }
    this.#nextLooksMs.set(id, clock.nowMs() + delayMs);
    return delayMs;
  }

  /** @returns when to look at the campaign again, in milliseconds. */
  async #step(campaign: Campaign): Promise<number> {
    const { clock, stores } = this.#parts;
    const { id, notAfterAt, notBeforeAt, maxConcurrentCalls } = campaign;
    const { calling, hasPending } = await stores.campaigns.open(id);
    const now = clock.now();
    if (!hasPending) {
      if (calling === 0) await this.#complete(campaign);
      return LOOK_AGAIN_MS;
    }
    if (notAfterAt !== null && notAfterAt <= now) {
      const reason = 'The campaign ended before the number could be called (notAfter).';
      await stores.campaigns.closePending(id, { state: 'failed', reason });
      return BREATH_MS;
    }
    if (notBeforeAt !== null && notBeforeAt > now) {
      return Math.min(NOT_BEGUN_MS, notBeforeAt.getTime() - now.getTime());
    }
    const room = maxConcurrentCalls - calling;
    const waitMs = this.#paceOf(campaign).waitMs(clock.nowMs());
    if (room <= 0 || waitMs > 0) return room <= 0 ? LOOK_AGAIN_MS : waitMs;
    return this.#callDue(campaign, room);
  }

  async #callDue(campaign: Campaign, room: number): Promise<number> {
    const { clock } = this.#parts;
    const due = await this.#dueOf(campaign);
    if (due.length === 0) return LOOK_AGAIN_MS;
    const caller = await callerOf(campaign, this.#parts);
    if (typeof caller === 'string') {
      await this.#pause(campaign, caller);
      return LOOK_AGAIN_MS;
    }
    const hours = callingHoursOf(campaign.environment, caller.account);
    const open = hours === null ? due : await this.#postponeClosed(campaign.id, due, hours);
    const isDone = await this.#callEach(open, { campaign, ...caller, room });
    const waitMs = this.#paceOf(campaign).waitMs(clock.nowMs());
    // Refused and postponed numbers take no time of the pace.
    return isDone ? Math.min(LOOK_AGAIN_MS, Math.max(BREATH_MS, waitMs)) : LOOK_AGAIN_MS;
  }

  /**
   * Contacts whose turn it is. One that would wait for longer than the campaign ever has a contact wait was timed by a
   * clock that has been set back since.
   */
  async #dueOf({ id, retryDelaySeconds }: Campaign): Promise<readonly Contact[]> {
    const { campaigns } = this.#parts.stores;
    const now = this.#parts.clock.now();
    const due = await campaigns.due(id, now, CONTACTS_A_LOOK);
    if (due.length > 0) return due;
    const longestWaitMs = Math.max(retryDelaySeconds * 1000, HOURS_ASKED_AGAIN_MS);
    const latest = new Date(now.getTime() + longestWaitMs);
    return campaigns.dueAfter(id, latest, CONTACTS_A_LOOK);
  }

  /** @returns false when no further call can start now, because the capacity is used up. */
  async #callEach(
    contacts: readonly Contact[],
    from: CampaignCaller & { readonly campaign: Campaign; readonly room: number },
  ): Promise<boolean> {
    const { clock, dialQueues } = this.#parts;
    const { campaign } = from;
    const pace = this.#paceOf(campaign);
    let { room } = from;
    for (const contact of contacts) {
      const mayCall = !this.#isDraining && !dialQueues[campaign.environment].isDraining;
      if (!mayCall || room === 0) return false;
      if (pace.waitMs(clock.nowMs()) > 0) return true;
      const result = await makeCall(contact, from, this.#parts);
      if (result === 'full') return false;
      const isCounted = campaign.environment === 'live' && result !== 'gone';
      if (isCounted) this.#parts.counts.reached(result);
      if (result !== 'called') continue;
      pace.called(clock.nowMs());
      room -= 1;
    }
    return true;
  }

  /** Puts off the contacts that may not be rung at this hour. @returns the others. */
  async #postponeClosed(
    campaignId: string,
    contacts: readonly Contact[],
    hours: CallingHours,
  ): Promise<readonly Contact[]> {
    const now = this.#parts.clock.now();
    const byCountry = Map.groupBy(contacts, ({ to }) => countryOf(to));
    const open: Contact[] = [];
    for (const [country, ofCountry] of byCountry) {
      const reason = hoursHold(country, hours, now);
      if (reason === undefined) {
        open.push(...ofCountry);
        continue;
      }
      const openingMs = nextOpening(country, hours, now).getTime();
      const waitMs = Math.min(openingMs - now.getTime(), HOURS_ASKED_AGAIN_MS);
      const dueAt = new Date(now.getTime() + Math.max(LOOK_AGAIN_MS, waitMs));
      const positions = ofCountry.map(({ position }) => position);
      await this.#parts.stores.campaigns.postpone(campaignId, positions, { dueAt, reason });
    }
    return open.sort((left, right) => left.dueAt.getTime() - right.dueAt.getTime());
  }

  async #complete({ id }: Campaign): Promise<void> {
    const now = this.#parts.clock.now();
    await this.#change(id, (campaign) => ({
      ...campaign,
      ...{ status: 'completed', endedAt: now, updatedAt: now },
    }));
    this.#parts.log.info({ campaignId: id }, 'campaign is completed');
  }

  async #pause({ id }: Campaign, reason: string): Promise<void> {
    const now = this.#parts.clock.now();
    await this.#change(id, (campaign) => pausedBecause(campaign, reason, now));
    this.#parts.log.warn({ campaignId: id }, 'campaign is paused: its agent cannot call');
  }

  /** Changes the campaign where it still runs. */
  async #change(id: string, change: (campaign: Campaign) => Campaign): Promise<void> {
    await this.#parts.transaction(async ({ campaigns }) => {
      const campaign = await campaigns.findById(id);
      if (campaign?.status === 'running') await campaigns.update(change(campaign));
    });
  }

  /** A new campaign begins at once; one that was paused, or that a restart found, after its first distance. */
  #paceOf(campaign: Campaign): CampaignPace {
    const known = this.#paces.get(campaign.id);
    if (known !== undefined) return known;
    const { callsPerMinute, createdAt, updatedAt } = campaign;
    const isNew = createdAt >= this.#startedAt && createdAt.getTime() === updatedAt.getTime();
    const nowMs = this.#parts.clock.nowMs();
    const firstAtMs = isNew ? nowMs : nowMs + distanceMs({ callsPerMinute });
    const pace = new CampaignPace({ callsPerMinute, firstAtMs });
    this.#paces.set(campaign.id, pace);
    return pace;
  }
}

/** Delay of a late look that is caught up at most, in milliseconds; more would be a burst. */
const CATCH_UP_MS = 250;

/** Decides when the next call of one campaign may be made. Instants are those of `Clock.nowMs`. */
class CampaignPace {
  readonly #distanceMs: number;
  #nextAtMs: number;

  /** @param options.firstAtMs the first call is not made before. */
  constructor(options: { readonly callsPerMinute: number; readonly firstAtMs: number }) {
    this.#distanceMs = distanceMs(options);
    this.#nextAtMs = options.firstAtMs;
  }

  /** Milliseconds until a call may be made; 0 for now. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextAtMs - nowMs);
  }

  /** A call was made now. */
  called(nowMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs - CATCH_UP_MS) + this.#distanceMs;
  }
}

/** Time between two calls. */
function distanceMs({ callsPerMinute }: { readonly callsPerMinute: number }): number {
  return 60_000 / callsPerMinute;
}
