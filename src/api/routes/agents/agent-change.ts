/** What a change of an agent must pass, whether it is live at once or kept as a draft. */
import type { Agent } from '../../../domain/agent/agent.ts';
import {
  type AgentPatch,
  patchAgent,
  requireKnownSpeech,
  type SpeechChoice,
} from '../../../domain/agent/agent-rules.ts';
import { requireKnownModel } from '../../../domain/agent/language-models.ts';
import { requireKnownCalendar } from '../../../domain/calendar/calendar.ts';
import { bodyFault } from '../../../domain/service-error.ts';
import { requireKnownGateway } from '../../../domain/sms/sms-gateway.ts';
import type { Stores } from '../../../domain/stores.ts';
import { requireKnownTools } from '../../../domain/tool/custom-tool.ts';
import type { ApiDeps } from '../../api-env.ts';

/**
 * Checks what cannot be checked inside of a transaction: whose the number is, and whether the model server has the model. Comes
 * before `changedAgent`.
 *
 * @throws {ServiceError} as `patchAgent`; VALIDATION_ERROR when null stands for the number of an agent that has one, or the model
 * is unknown, UNPROCESSABLE when the number belongs to another account.
 */
export async function requireOwnNumberAndModel(
  agent: Agent,
  patch: AgentPatch,
  deps: Pick<ApiDeps, 'numberOwners' | 'languageModels' | 'clock'>,
): Promise<void> {
  const { numberOwners, languageModels, clock } = deps;
  requireNumberKept(patch, agent);
  const { phoneNumber } = patchAgent(agent, patch, clock.now());
  await requireKnownModel(patch.model, agent.model, languageModels);
  await numberOwners.requireOwn(agent, phoneNumber, agent.phoneNumber);
}

/**
 * The agent with the change; nothing is saved.
 *
 * @param stores of the transaction that saves it.
 * @throws {ServiceError} as `patchAgent`; VALIDATION_ERROR when voice, language, a tool, the gateway or the calendar is unknown.
 */
export async function changedAgent(
  stores: Pick<Stores, 'customTools' | 'mcpServers' | 'smsGateways' | 'calendars'>,
  { agent, patch }: { readonly agent: Agent; readonly patch: AgentPatch },
  { voices, clock }: Pick<ApiDeps, 'voices' | 'clock'>,
): Promise<Agent> {
  requireKnownSpeech(changedSpeech(patch, agent), voices);
  const changed = patchAgent(agent, patch, clock.now());
  await requireKnownTools(changed.tools, agent, [stores.customTools, stores.mcpServers]);
  await requireKnownGateway(changed, agent, stores.smsGateways);
  await requireKnownCalendar(changed.calendar, agent, stores.calendars);
  return changed;
}

/** A voice or language that the agent has stays, even where the server no longer speaks it. */
function changedSpeech({ voice, language }: SpeechChoice, agent: Agent): SpeechChoice {
  return {
    voice: voice === agent.voice ? undefined : voice,
    language: language === agent.language ? undefined : language,
  };
}

/** @throws {ServiceError} VALIDATION_ERROR when null stands for the number of an agent that has one. */
function requireNumberKept({ phoneNumber }: AgentPatch, agent: Agent): void {
  if (phoneNumber !== null || agent.phoneNumber === null) return;
  const message = 'expected a number; DELETE /api/agents/{agentId}/phone-number takes it away';
  throw bodyFault('phoneNumber', message);
}
