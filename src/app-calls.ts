/** Composition root: what the calls of the live environment are made from. */
import type { LiveAdmission } from './app-admission.ts';
import { openRecordings } from './app-recordings.ts';
import type { SpeechParts } from './app-speech.ts';
import { openTalk } from './app-talk.ts';
import type { Telephony } from './app-telephony.ts';
import type { CallParts } from './call/call-parts.ts';
import type { CallRegistry } from './call/call-registry.ts';
import { InboundRouter } from './call/inbound-router.ts';
import { OutboundDialer } from './call/outbound-dialer.ts';
import { TransferCap } from './call/transfer-cap.ts';
import type { Config } from './config.ts';
import type { NewId } from './domain/ids.ts';
import { entitled, type NumberOwners } from './domain/number-owner.ts';
import { systemClock } from './lib/clock.ts';
import type { DiskSpace } from './lib/disk-space.ts';
import type { Logger } from './lib/logger.ts';
import type { Metrics } from './lib/metrics.ts';
import type { Store } from './store/store.ts';

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
