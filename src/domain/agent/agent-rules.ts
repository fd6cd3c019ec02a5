/** Rules of agents: limits, defaults, creation, changes, and the language models that agents may name. */
import { editDistance } from '../../lib/edit-distance.ts';
import { languageOf } from '../../lib/language-tag.ts';
import { type DialRules, decideDial } from '../dialing/dial-policy.ts';
import { parsePhoneNumber } from '../dialing/phone-number.ts';
import { emptyPatch, given, laterThan, type Unset } from '../ids.ts';
import {
  bodyFault,
  conflict,
  type ErrorDetail,
  requireNoFaults,
  unprocessable,
} from '../service-error.ts';
import { schemaFault } from '../tool/argument-schema.ts';
import {
  type Agent,
  type AgentSettings,
  DEFAULT_AGENT_SETTINGS,
  DEFAULT_RESPONSIVENESS,
  type Scope,
} from './agent.ts';
import type { VoiceCatalogue } from './voice-catalogue.ts';

/** Limits of the fields of an agent: lengths in characters, counts, durations in seconds. */
export const AGENT_LIMITS = {
  nameCharsMax: 120,
  greetingCharsMax: 2000,
  systemPromptCharsMax: 20_000,
  toolsMax: 32,
  transferTargetsMax: 32,
  transferLabelCharsMax: 60,
  pronunciationsMax: 100,
  writtenCharsMax: 60,
  spokenCharsMax: 120,
  /** A minute or so; many mailboxes take no more. */
  voicemailMessageCharsMax: 1000,
  successCriteriaCharsMax: 1000,
  maxDurationSeconds: { min: 10, max: 14_400 },
  silenceTimeoutSeconds: { min: 2, max: 120 },
} as const;

/** Names of the tools that an agent may list. */
export const AGENT_TOOLS = [
  'transfer_call',
  'send_sms',
  'book_appointment',
  'end_call',
  'send_digits',
  'collect_digits',
] as const;

const DEFAULT_VOICE = 'en-US-JennyNeural';

/** Language of an agent that names none. */
export const DEFAULT_LANGUAGE = 'en-US';

/** Settings as customers send them; fields left out keep their values. */
type SettingsDraft = Unset<AgentSettings>;

/** An agent as customers describe it, of the right types and lengths. */
interface AgentDraft
  extends Pick<Agent, 'name' | 'greeting' | 'systemPrompt'>,
    Unset<
      Pick<Agent, 'voice' | 'language' | 'tools' | 'responsiveness' | 'smsGateway' | 'calendar'>
    >,
    Unset<Pick<Agent, 'model' | 'extract' | 'successCriteria'>> {
  readonly phoneNumber?: string | undefined;
  readonly settings?: SettingsDraft | undefined;
}

/** A change: only the fields that are there. `phoneNumber` null takes the number away. */
export type AgentPatch = Unset<
  Omit<AgentDraft, 'phoneNumber'> & Pick<Agent, 'phoneNumber' | 'status'>
>;

/**
 * Makes an active agent.
 *
 * @throws {ServiceError} UNPROCESSABLE when a telephone number is impossible, or no transfer could reach it; VALIDATION_ERROR
 * when the schema of `extract` cannot be used.
 */
export function createAgent(
  draft: AgentDraft,
  { id, scope, now }: { readonly id: string; readonly scope: Scope; readonly now: Date },
): Agent {
  const { name, greeting, systemPrompt } = draft;
  return {
    id,
    accountId: scope.accountId,
    environment: scope.environment,
    name,
    greeting,
    systemPrompt,
    voice: draft.voice ?? DEFAULT_VOICE,
    language: draft.language ?? DEFAULT_LANGUAGE,
    phoneNumber:
      draft.phoneNumber === undefined ? null : parsePhoneNumber(draft.phoneNumber, 'phoneNumber'),
    tools: draft.tools ?? [],
    responsiveness: draft.responsiveness ?? DEFAULT_RESPONSIVENESS,
    model: draft.model ?? null,
    smsGateway: draft.smsGateway ?? null,
    calendar: draft.calendar ?? null,
    extract: wantedOf(draft),
    successCriteria: draft.successCriteria ?? null,
    settings: mergeSettings(DEFAULT_AGENT_SETTINGS, draft.settings),
    status: 'active',
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Changes the fields that the patch has; settings merge field by field. A null `phoneNumber` alone, for an agent
 * without a number, gives the same agent.
 *
 * @throws {ServiceError} VALIDATION_ERROR when the patch is empty or the schema of `extract` cannot be used, CONFLICT when the agent has that status
 * already, UNPROCESSABLE when a telephone number is impossible.
 */
export function patchAgent(agent: Agent, patch: AgentPatch, now: Date): Agent {
  const changes = given(patch);
  if (Object.keys(changes).length === 0) throw emptyPatch('the agent');
  if (changes.status === agent.status) {
    throw conflict(`Cannot make the agent ${agent.status}: it already is`);
  }
  if (isOnlyNoNumber(agent, changes)) return agent;
  wantedOf(changes);
  if (typeof changes.phoneNumber === 'string') parsePhoneNumber(changes.phoneNumber, 'phoneNumber');
  return {
    ...agent,
    ...changes,
    settings: mergeSettings(agent.settings, changes.settings),
    updatedAt: laterThan(agent.updatedAt, now),
  };
}

/** @throws {ServiceError} VALIDATION_ERROR when the schema for extraction cannot be used. */
function wantedOf({ extract = null }: Pick<AgentDraft, 'extract'>): Agent['extract'] {
  const fault = extract === null ? undefined : schemaFault(extract, 'extract');
  if (fault !== undefined) requireNoFaults([fault]);
  return extract;
}

/** Whether the only change is a null `phoneNumber`, for an agent without a number. */
function isOnlyNoNumber(agent: Agent, changes: AgentPatch): boolean {
  const isAlone = Object.keys(changes).length === 1;
  return isAlone && changes.phoneNumber === null && agent.phoneNumber === null;
}

/** Whether speech synthesis makes any sound of a text. */
export function isSayable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Whether the text can be kept, spoken and given back as it came: no half characters, no NUL. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function mergeSettings(settings: AgentSettings, draft: SettingsDraft | undefined): AgentSettings {
  if (draft === undefined) return settings;
  for (const [index, { number }] of (draft.transferTargets ?? []).entries()) {
    checkTransferTarget(number, `settings.transferTargets.${index}.number`);
  }
  return { ...settings, ...given(draft) };
}

/** Countries are not looked at: the account's list may change, and decides at every transfer. */
const TARGET_RULES: DialRules = {
  allowedCountries: 'any',
  homeNumber: null,
  isOwnNumber: () => false,
  isSimulated: true,
};

/**
 * Checks a number that calls may be handed to.
 *
 * @param path Where it was written.
 * @throws {ServiceError} UNPROCESSABLE when it is impossible, or no transfer could ever reach it.
 */
export function checkTransferTarget(text: string, path: string): void {
  const number = parsePhoneNumber(text, path);
  const decision = decideDial(number, TARGET_RULES);
  if (decision.isAllowed) return;
  throw unprocessable(`Cannot use ${path} "${number}": ${decision.reason}`);
}

/** Voice, language and texts of an agent or of a call's overrides; undefined fields are not checked. */
export type SpeechChoice = Unset<Pick<Agent, 'voice' | 'language'>>;

type Known = Pick<VoiceCatalogue, 'list' | 'find' | 'languages'>;

const SUGGESTIONS_MAX = 3;

/**
 * Requires that the voice is listed and that an engine speaks the language.
 *
 * @param at Path of the object that has the fields, with a dot at its end; empty for the body itself.
 * @throws {ServiceError} VALIDATION_ERROR with a detail for each unknown value.
 */
export function requireKnownSpeech(choice: SpeechChoice, voices: Known, at = ''): void {
  requireNoFaults([...voiceFaults(choice, voices, at), ...languageFaults(choice, voices, at)]);
}

function voiceFaults({ voice }: SpeechChoice, voices: Known, at: string): ErrorDetail[] {
  if (voice === undefined || voices.find(voice) !== undefined) return [];
  const near = nearest(
    voice,
    voices.list({}).map(({ id }) => id),
  );
  const message = `expected a voice of GET /api/voices; the nearest: ${near.join(', ')}`;
  return [{ path: `${at}voice`, message }];
}

function languageFaults({ language }: SpeechChoice, voices: Known, at: string): ErrorDetail[] {
  if (language === undefined) return [];
  const code = languageOf(language);
  const known = voices.languages();
  if (known.includes(code)) return [];
  const message = `expected a language that this server speaks; the nearest: ${nearest(code, known).join(', ')}`;
  return [{ path: `${at}language`, message }];
}

/** The candidates with the fewest differing letters, case aside; best first, and then by the alphabet. */
export function nearest(text: string, candidates: readonly string[]): readonly string[] {
  return candidates
    .map((candidate) => ({
      candidate,
      distance: editDistance(text.toLowerCase(), candidate.toLowerCase()),
    }))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, SUGGESTIONS_MAX)
    .map(({ candidate }) => candidate);
}

/** Longest name of a language model, in characters. */
export const MODEL_NAME_CHARS_MAX = 200;

/** One line of printable characters, without blanks around it. */
export const MODEL_NAME = /^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u;

/** Names that the message of a refusal has. */
const NAMED_MODELS_MAX = 10;

/** The models that the server's language model engine has. */
export interface LanguageModels {
  /** Name of the model that answers for agents that name none, such as `ollama/qwen3:4b`. */
  readonly ownName: string;

  /** Whether the engine has several models to choose from. */
  readonly isChoosable: boolean;

  /**
   * Lists the model names that agents may use, within 2 s. Never rejects.
   *
   * @param options.isFresh asks the engine, even if it was asked just before.
   * @returns empty where there is nothing to choose, undefined while the engine does not answer.
   */
  names(options?: { readonly isFresh?: boolean }): Promise<readonly string[] | undefined>;
}

/**
 * Requires that the engine has the model that an agent is to have. A model that it has already stays, and while the engine does
 * not answer every name is taken: a call whose model is missing is answered by the server's own.
 *
 * @param model undefined where it does not change.
 * @param before the agent's model so far.
 * @throws {ServiceError} VALIDATION_ERROR naming models that there are.
 */
export async function requireKnownModel(
  model: Agent['model'] | undefined,
  before: Agent['model'],
  models: LanguageModels,
): Promise<void> {
  if (model === undefined || model === null || model === before) return;
  if (!models.isChoosable) {
    const message = `expected null: this server's engine has no other model than "${models.ownName}"`;
    throw bodyFault('model', message);
  }
  const names = await models.names({ isFresh: true });
  // Ollama's tag of a name without one is `latest`.
  if (names === undefined || names.includes(model) || names.includes(`${model}:latest`)) return;
  const known = names.slice(0, NAMED_MODELS_MAX).join(', ');
  const has = known === '' ? 'which has no models' : `which has: ${known}`;
  throw bodyFault('model', `"${model}" is not at the model server, ${has}`);
}
