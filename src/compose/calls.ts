/** Composition root: the parts of live calls. */
import type { LiveAdmission } from '../call/admission/live-admission.ts';
import { agentOfPhone, InboundRouter } from '../call/inbound-router.ts';
import type { CallParts, TalkingParty, TalkOptions } from '../call/session/call-parts.ts';
import { openRecordings } from '../call/session/recordings.ts';
import { TransferCap, transferRulesOf } from '../call/session/transfer-cap.ts';
import { Conversation } from '../conversation/conversation.ts';
import { countryOfNumber } from '../conversation/endpointing/dictation.ts';
import { phrasesFor } from '../conversation/reply/phrases.ts';
import type { Agent } from '../domain/agent/agent.ts';
import { entitled, type NumberOwners } from '../domain/dialing/number-owner.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock } from '../lib/clock.ts';
import { UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import type { Store } from '../store/store.ts';
import type { LiveCalendars } from '../tool/calendar/live-calendars.ts';
import { toolboxFor } from '../tool/toolbox.ts';
import type { TransferRules } from '../tool/transfer-call.ts';
import type { AppParts, ControlPlaneParts } from './app-parts.ts';

/** Parts that all live calls share. */
export function liveCallParts(
  from: AppParts & { readonly newId: NewId; readonly calendars: LiveCalendars } & Pick<
      ControlPlaneParts,
      'customTools' | 'mcpTools' | 'callSms' | 'knowledge'
    >,
): CallParts {
  const { config, disk, store, speech, metrics, newId, log } = from;
  return {
    calls: store.calls,
    qualities: store.qualities,
    live: store.liveFeed,
    recordings: openRecordings({ dataFolder: config.DATA_DIR, disk }),
    metrics,
    newId,
    clock: systemClock,
    log,
    isOwnNumber: async (number) => (await store.agents.findByPhoneNumber(number)) !== undefined,
    transfers: new TransferCap({ clock: systemClock }),
    accountOf: (agent) => store.accounts.find(agent.accountId),
    toolsOf: async (agent, call) => {
      const { calendars, callSms, customTools, mcpTools } = from;
      const tools = [
        calendars.toolsOf(agent, call),
        callSms.toolsOf(agent, call),
        mcpTools.toolsOf(agent),
        customTools.toolsOf(agent),
      ];
      return (await Promise.all(tools)).flat();
    },
    knowledgeOf: (agent) => from.knowledge.of(agent),
    talk: (options) => openTalk({ speech, metrics }, options),
  };
}

/** Routes incoming calls to agents: by carrier or from a browser. */
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
    findAgent: async (calledNumber) =>
      entitled(await store.agents.findByPhoneNumber(calledNumber), numberOwners),
    findAgentOfPhone: (phone, called) =>
      agentOfPhone(phone, called, {
        firstAccountId: () => numberOwners.firstAccountId(),
        findLive: (accountId, agentId) =>
          store.agents.find({ accountId, environment: 'live' }, agentId),
      }),
    onFull: () => admission.refused(),
  });
}

/** Opens a listener on the call's audio, and a conversation on top of it. */
function openTalk(
  { speech, metrics }: Pick<AppParts, 'speech' | 'metrics'>,
  options: TalkOptions,
): TalkingParty {
  const { account, agent, audio, before, brief, control, log, onEvent } = options;
  const transferRules = transferRulesOf(agent, brief, account);
  const listener = speech.hearing.open({
    ring: audio.heard,
    language: brief.language,
    prompt: namesOf(agent, transferRules),
  });
  // Phrases of every call of this agent: cached for the next call.
  const { language, pronunciations = [] } = brief;
  const spoken = { voice: brief.voice, language, pronunciations };
  const waiting = options.callTools.flatMap(({ sayWhileWaiting: said }) => said ?? []);
  for (const text of [brief.greeting, phrasesFor(language).filler, ...waiting]) {
    speech.synthesizer.prepare({ text, ...spoken }).catch((error: unknown) => {
      log.warn({ err: error }, 'set phrase could not be prepared');
    });
  }
  const country = countryOfNumber(agent.phoneNumber);
  const conversation = new Conversation({
    brief,
    audio,
    listener,
    hearing: speech.hearing,
    hasVoiceDetector: speech.hearing.hasVoiceDetector,
    turnTrust: speech.hearing.turnTrust,
    ...(country === undefined ? {} : { country }),
    synthesizer: speech.synthesizer,
    model: speech.agentModels.of(agent),
    tools: toolboxFor({
      names: agent.tools,
      clock: systemClock,
      transferRules,
      callTools: options.callTools,
    }),
    control,
    clock: systemClock,
    log,
    onEvent,
    before,
    counts: speech.counts ?? UNCOUNTED,
    knowledge: options.knowledge,
    knowledgeCounts: metrics.knowledge,
    ...speech.turnTaking,
  });
  return partyOf(conversation, () => listener.close());
}

/** @param stopHearing ends its listener. */
function partyOf(conversation: Conversation, stopHearing: () => void): TalkingParty {
  return {
    get soFar() {
      return conversation.soFar;
    },
    start: () => conversation.start(),
    digit: (digit) => conversation.digit(digit),
    transferPending: (isUnderWay) => conversation.transferPending(isUnderWay),
    thirdParty: (isThere) => conversation.thirdParty(isThere),
    farEndMoved: () => conversation.farEndMoved(),
    announcement: (summary) => conversation.announcement(summary),
    acceptance: () => conversation.acceptance(),
    stop: () => {
      conversation.stop();
      stopHearing();
    },
  };
}

/** Prompt for the recogniser: a sentence with the names that callers are likely to say. */
function namesOf({ name }: Agent, { targets }: TransferRules): string {
  return `${[...new Set([name, ...targets.map(({ label }) => label)])].join(', ')}.`;
}
