/** An agent's form against its saved draft and the live agent: conflicts, changes to publish, differences as texts; pure */
import type { Agent, AgentContent, Responsiveness, SavedDraft } from '../api-types.ts';
import { type Fields, mergedFields } from '../forms/form-changes.ts';
import {
  changesOf,
  draftOf,
  isNumberFreed,
  type KeptDraft,
  NEW_AGENT,
  schemaText,
  targetsText,
} from './agent-draft.ts';

/** An agent and its draft, as saved on the server. */
export interface SeenAgent {
  readonly agent: Agent;
  /** Undefined where it has none. */
  readonly draft: SavedDraft | undefined;
}

/** Changes that another person has saved since the form began. */
export interface Conflict {
  readonly newest: SeenAgent;
  /** The version saved meanwhile: the live agent, or the other person's draft. */
  readonly theirs: Agent;
}

/** The agent as publishing its draft would make it. */
export function agentWithDraft({ agent, draft }: SeenAgent): Agent {
  const { settings, ...changes } = draft?.changes ?? {};
  return { ...agent, ...changes, settings: { ...agent.settings, ...settings } } as Agent;
}

/** A form without changes. @param seen undefined where an agent is created. */
export function begunWith(seen: SeenAgent | undefined): KeptDraft {
  if (seen === undefined) {
    return { draft: NEW_AGENT, begun: NEW_AGENT, live: NEW_AGENT, updatedAt: '' };
  }
  const { agent, draft } = seen;
  const begun = draftOf(agentWithDraft(seen));
  const form = { draft: begun, begun, live: draftOf(agent), updatedAt: agent.updatedAt };
  if (draft === undefined) return form;
  const { status } = draft.changes;
  const unshown = status === undefined ? {} : { status };
  return { ...form, savedAt: draft.updatedAt, unshown };
}

/** A form without unsaved changes, which is live. */
export function publishedAs({ draft }: KeptDraft, updatedAt: string): KeptDraft {
  return { draft, begun: draft, live: draft, updatedAt };
}

/** The form once its changes are the draft. A released number stays unsaved: a draft cannot have that. */
export function savedAs(form: KeptDraft, savedAt: string | undefined): KeptDraft {
  const { draft, live } = form;
  const begun = isNumberFreed(draft, live) ? { ...draft, phoneNumber: live.phoneNumber } : draft;
  return { ...form, begun, savedAt };
}

/** Fields that publishing the form would change, as the API takes them; empty where it equals the live agent. */
export function changesToPublish({ draft, live, unshown }: KeptDraft): Fields {
  return { ...unshown, ...changesOf(draft, live) };
}

/** Whether the form differs from its saved state on the server. */
export function isUnsaved({ draft, begun }: KeptDraft): boolean {
  return Object.keys(changesOf(draft, begun)).length > 0 || isNumberFreed(draft, begun);
}

/** The entity tag of the state that the form began with: the draft's where there is one, else the agent's. */
export function tagOf({ updatedAt, savedAt }: KeptDraft): string {
  return savedAt === undefined ? updatedAt : `${updatedAt}/${savedAt}`;
}

/** Conflict between the form and the newest state. @param form undefined for one that begins now. */
export function conflictOf(newest: SeenAgent, form: KeptDraft | undefined): Conflict {
  const isSameDraft = form === undefined || newest.draft?.updatedAt === form.savedAt;
  return { newest, theirs: isSameDraft ? newest.agent : agentWithDraft(newest) };
}

/** The conflict that a form begins with whose draft was saved for an earlier agent; undefined where there is none. */
export function outdatedDraft(seen: SeenAgent | undefined): Conflict | undefined {
  if (seen?.draft === undefined || seen.draft.basedOnAt === seen.agent.updatedAt) return undefined;
  return conflictOf(seen, undefined);
}

/** The form based on the newest state, with or without its own changes. */
export function settledForm(
  form: KeptDraft,
  { newest, theirs }: Conflict,
  whose: 'mine' | 'theirs',
): KeptDraft {
  const begun = begunWith(newest);
  if (whose === 'theirs') return { ...begun, draft: draftOf(theirs) };
  const parts = { begun: form.begun, mine: form.draft, theirs: begun.draft };
  return { ...begun, draft: mergedFields(parts) };
}

/** A field as the texts name it: `agent.<field>`. */
type AgentField = keyof ReturnType<typeof textsOf>;

interface FieldDifference {
  readonly field: AgentField;
  readonly before: string;
  readonly after: string;
}

/** Words of the chosen language for values that are none. */
interface ValueWords {
  readonly yes: string;
  readonly no: string;
  readonly none: string;
  readonly toolOf: (tool: string) => string;
  readonly responsivenessOf: (responsiveness: Responsiveness) => string;
  readonly voicemailOf: (action: AgentContent['settings']['voicemail']['action']) => string;
}

/** Fields that differ; `status` is left out, because going back leaves it as it is. */
export function differencesOf(
  before: AgentContent,
  after: AgentContent,
  words: ValueWords,
): readonly FieldDifference[] {
  const texts = (agent: AgentContent) => textsOf(agent, words);
  const [old, now] = [texts(before), texts(after)];
  const fields = Object.keys(now) as AgentField[];
  return fields
    .map((field) => ({ field, before: old[field], after: now[field] }))
    .filter((one) => one.before !== one.after);
}

/** The name of a field, as a version tells it, such as `settings.interruptible`. */
export function fieldOf(changed: string): string {
  return changed.replace(/^settings\./, '');
}

/** In the order in which they are shown. */
function textsOf(agent: AgentContent, words: ValueWords) {
  const { settings } = agent;
  return {
    name: agent.name,
    greeting: agent.greeting,
    systemPrompt: agent.systemPrompt,
    voice: agent.voice,
    language: agent.language,
    phoneNumber: agent.phoneNumber ?? words.none,
    tools: agent.tools.map(words.toolOf).join('\n') || words.none,
    calendar: agent.calendar ?? words.none,
    smsGateway: agent.smsGateway ?? words.none,
    transferTargets: targetsText(settings.transferTargets) || words.none,
    afterTransfer: settings.afterTransfer === 'return' ? words.yes : words.no,
    transferAcceptance: settings.transferAcceptance ? words.yes : words.no,
    pronunciations:
      settings.pronunciations.map(({ written, spoken }) => `${written} → ${spoken}`).join('\n') ||
      words.none,
    maxDurationSeconds: String(settings.maxDurationSeconds),
    silenceTimeoutSeconds: String(settings.silenceTimeoutSeconds),
    interruptible: settings.interruptible ? words.yes : words.no,
    responsiveness: words.responsivenessOf(agent.responsiveness),
    model: agent.model ?? words.none,
    voicemailAction: words.voicemailOf(settings.voicemail.action),
    voicemailMessage: settings.voicemail.message ?? words.none,
    successCriteria: agent.successCriteria ?? words.none,
    extract: schemaText(agent.extract) || words.none,
  };
}
