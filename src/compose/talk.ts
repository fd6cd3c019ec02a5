/** Composition root: who speaks for the agent on one call. */

import type { TalkingParty, TalkOptions } from '../call/session/call-parts.ts';
import { transferRulesOf } from '../call/session/transfer-rules-of.ts';
import { Conversation } from '../conversation/conversation.ts';
import { countryOfNumber } from '../conversation/endpointing/dictation.ts';
import { phrasesFor } from '../conversation/reply/phrases.ts';
import type { Account } from '../domain/account/account.ts';
import type { Agent } from '../domain/agent/agent.ts';
import { systemClock } from '../lib/clock.ts';
import { UNCOUNTED } from '../lib/metrics/language-model-metrics.ts';
import { toolboxFor } from '../tool/toolbox.ts';
import type { TransferRules } from '../tool/transfer-policy.ts';
import type { SpeechParts } from './speech.ts';

/**
 * Opens an ear on the call and a conversation over it.
 *
 * @param account whose agent it is; without one, transfers go by what the agent says alone.
 */
export function openTalk(
  speech: SpeechParts,
  options: TalkOptions,
  account: Account | undefined,
): TalkingParty {
  const { agent, audio, brief, control, log, onEvent } = options;
  const transferRules = transferRulesOf(agent, brief, account);
  const ear = speech.hearing.open({
    heard: audio.heard,
    language: brief.language,
    prompt: namesOf(agent, transferRules),
  });
  // Said on every call of this agent: the next one hears it at once.
  const { language, pronunciations = [] } = brief;
  const spoken = { voice: brief.voice, language, pronunciations };
  for (const text of [brief.greeting, phrasesFor(language).filler]) {
    speech.synthesizer.prepare({ text, ...spoken }).catch((error: unknown) => {
      log.warn({ err: error }, 'set phrase could not be prepared');
    });
  }
  const country = countryOfNumber(agent.phoneNumber);
  const conversation = new Conversation({
    brief,
    audio,
    ear,
    hasVoiceDetector: speech.hearing.hasVoiceDetector,
    turnTrust: speech.hearing.turnTrust,
    ...(country === undefined ? {} : { country }),
    synthesizer: speech.synthesizer,
    model: speech.model,
    tools: toolboxFor({
      names: agent.tools,
      clock: systemClock,
      transferRules,
    }),
    control,
    clock: systemClock,
    log,
    onEvent,
    counts: speech.counts ?? UNCOUNTED,
    ...speech.turnTaking,
  });
  return {
    start: () => conversation.start(),
    digit: (digit) => conversation.digit(digit),
    handingOver: (isUnderWay) => conversation.handingOver(isUnderWay),
    company: (isThere) => conversation.company(isThere),
    announcement: (summary) => conversation.announcement(summary),
    stop: () => {
      conversation.stop();
      ear.close();
    },
  };
}

/** Names that callers are likely to say, as a sentence that a recogniser is told before it listens. */
function namesOf({ name }: Agent, { targets }: TransferRules): string {
  return `${[...new Set([name, ...targets.map(({ label }) => label)])].join(', ')}.`;
}
