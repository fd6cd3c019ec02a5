/** What is different between two versions of an agent, field by field; pure */
import { targetsText } from './agent-draft.ts';
import type { AgentContent } from './agent-types.ts';

/** A field as the texts name it: `agent.<field>`. */
export type AgentField = (typeof FIELDS)[number];

export interface FieldDifference {
  readonly field: AgentField;
  readonly before: string;
  readonly after: string;
}

/** Words of the chosen language for values that are none. */
export interface ValueWords {
  readonly yes: string;
  readonly no: string;
  readonly none: string;
  readonly toolOf: (tool: string) => string;
}

const FIELDS = [
  'name',
  'greeting',
  'systemPrompt',
  'voice',
  'language',
  'phoneNumber',
  'tools',
  'transferTargets',
  'pronunciations',
  'maxDurationSeconds',
  'silenceTimeoutSeconds',
  'interruptible',
] as const;

/** Only what differs; `status` is left out, because going back leaves it as it is. */
export function differencesOf(
  before: AgentContent,
  after: AgentContent,
  words: ValueWords,
): readonly FieldDifference[] {
  const texts = (agent: AgentContent) => textsOf(agent, words);
  const [old, now] = [texts(before), texts(after)];
  return FIELDS.map((field) => ({ field, before: old[field], after: now[field] })).filter(
    (one) => one.before !== one.after,
  );
}

/** The name of a field, as a version tells it, such as `settings.interruptible`. */
export function fieldOf(changed: string): string {
  return changed.replace(/^settings\./, '');
}

function textsOf(agent: AgentContent, words: ValueWords): Readonly<Record<AgentField, string>> {
  const { settings } = agent;
  return {
    name: agent.name,
    greeting: agent.greeting,
    systemPrompt: agent.systemPrompt,
    voice: agent.voice,
    language: agent.language,
    phoneNumber: agent.phoneNumber ?? words.none,
    tools: agent.tools.map(words.toolOf).join('\n') || words.none,
    transferTargets: targetsText(settings.transferTargets) || words.none,
    pronunciations:
      settings.pronunciations.map(({ written, spoken }) => `${written} → ${spoken}`).join('\n') ||
      words.none,
    maxDurationSeconds: String(settings.maxDurationSeconds),
    silenceTimeoutSeconds: String(settings.silenceTimeoutSeconds),
    interruptible: settings.interruptible ? words.yes : words.no,
  };
}
