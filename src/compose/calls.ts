/** Composition root: what the calls of the live environment are made from. */

import type { CallRegistry } from '../call/call-registry.ts';
import { InboundRouter } from '../call/inbound-router.ts';
import { OutboundDialer } from '../call/outbound/outbound-dialer.ts';
import type { CallParts } from '../call/session/call-parts.ts';
import { TransferCap } from '../call/session/transfer-cap.ts';
import type { Config } from '../config/config.ts';
import { entitled, type NumberOwners } from '../domain/dialing/number-owner.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import type { Store } from '../store/store.ts';
import type { LiveAdmission } from './admission.ts';
import { openRecordings } from './recordings.ts';
import type { SpeechParts } from './speech.ts';
import { openTalk } from './talk.ts';
import type { Telephony } from './telephony.ts';

export function liveCallParts(from: {
  readonly config: Config;
  readonly disk: DiskSpace;
  readonly store: Store;
  readonly speech: SpeechParts;
  readonly metrics: Metrics;
  readonly newId: NewId;
  readonly log: Logger;
}): CallParts {
  const { store, speech, metrics, newId, log } = from;
  return {
    calls: store.calls,
    qualities: store.qualities,
    live: store.liveFeed,
    recordings: openRecordings(from),
    metrics,
    newId,
    clock: systemClock,
    log,
    isOwnNumber: (number) => store.agents.findByPhoneNumber(number) !== undefined,
    transfers: new TransferCap({ clock: systemClock }),
    talk: (options) => openTalk(speech, options, store.accounts.find(options.agent.accountId)),
  };
}

/** Decides who answers the calls that come in, by whichever way. */
export function liveRouter(from: {
  readonly store: Pick<Store, 'agents'>;
  readonly numberOwners: NumberOwners;
  readonly callParts: CallParts;
  readonly admission: Pick<LiveAdmission, 'registry' | 'refused'>;
}): InboundRouter {
  const { store, numberOwners, callParts, admission } = from;
  return new InboundRouter({
    parts: callParts,
    registry: admission.registry,
    findAgent: (calledNumber) =>
      entitled(store.agents.findByPhoneNumber(calledNumber), numberOwners),
    onFull: () => admission.refused(),
  });
}

/** Dials the outgoing calls of the live environment. */
export function liveDialer(from: {
  readonly store: Store;
  readonly telephony: Telephony;
  readonly callParts: CallParts;
  readonly registry: CallRegistry;
}): OutboundDialer {
  const { store, telephony, callParts, registry } = from;
  return new OutboundDialer({
    ...callParts,
    environment: 'live',
    carrier: telephony,
    parts: () => callParts,
    registry,
    findAgent: (scope, agentId) => store.agents.find(scope, agentId),
  });
}
