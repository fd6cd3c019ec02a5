/** What is different between two versions of an agent, as texts by field; pure */
import type { AgentContent, Responsiveness } from '../api-types.ts';
import { schemaText, targetsText } from './agent-draft.ts';

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

/** Only what differs; `status` is left out, because going back leaves it as it is. */
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
