/** An agent as the form holds it, and as the API takes it; pure */
import type { Agent, TransferTarget } from '../api-types.ts';
import { changedFields, type Fields } from '../forms/form-changes.ts';
import { type Box, keep, kept } from '../kept.ts';

export const TOOLS = [
  'transfer_call',
  'send_sms',
  'book_appointment',
  'end_call',
  'send_digits',
  'collect_digits',
] as const;

interface Pronunciation {
  readonly written: string;
  readonly spoken: string;
}

/** A form without input: texts as their inputs have them, empty for none. */
export const NEW_AGENT = {
  name: '',
  greeting: '',
  systemPrompt: '',
  voice: 'en-US-JennyNeural',
  language: 'en-US',
  phoneNumber: '',
  tools: [] as readonly string[],
  calendar: '',
  /** Empty for the only one of the account. */
  smsGateway: '',
  maxDurationSeconds: '600',
  silenceTimeoutSeconds: '10',
  isInterruptible: true,
  responsiveness: 'balanced',
  /** Name of a language model; empty for the server's own. */
  model: '',
  transferTargets: [] as readonly TransferTarget[],
  /** Whether the caller comes back when the other party hangs up first. */
  doesReturn: false,
  transferAcceptance: true,
  pronunciations: [] as readonly Pronunciation[],
  voicemailAction: 'continue',
  voicemailMessage: '',
  /** JSON Schema, indented. */
  extract: '',
  successCriteria: '',
};

/** Values of the agent form. */
export type AgentDraft = Readonly<typeof NEW_AGENT>;

/** Props of one part of the form. */
export interface FormParts {
  readonly draft: AgentDraft;
  readonly change: (part: Partial<AgentDraft>) => void;
  /** Messages by the path of their field. */
  readonly wrong: Readonly<Record<string, string>>;
}

export function draftOf(agent: Agent): AgentDraft {
  const { settings } = agent;
  return {
    name: agent.name,
    greeting: agent.greeting,
    systemPrompt: agent.systemPrompt,
    voice: agent.voice,
    language: agent.language,
    phoneNumber: agent.phoneNumber ?? '',
    tools: agent.tools,
    calendar: agent.calendar ?? '',
    smsGateway: agent.smsGateway ?? '',
    maxDurationSeconds: String(settings.maxDurationSeconds),
    silenceTimeoutSeconds: String(settings.silenceTimeoutSeconds),
    isInterruptible: settings.interruptible,
    responsiveness: agent.responsiveness,
    model: agent.model ?? '',
    transferTargets: settings.transferTargets,
    doesReturn: settings.afterTransfer === 'return',
    transferAcceptance: settings.transferAcceptance,
    pronunciations: settings.pronunciations,
    voicemailAction: settings.voicemail.action,
    voicemailMessage: settings.voicemail.message ?? '',
    extract: schemaText(agent.extract),
    successCriteria: agent.successCriteria ?? '',
  };
}

/** A JSON Schema as the form shows it. */
export function schemaText(schema: Agent['extract']): string {
  return schema === null ? '' : JSON.stringify(schema, null, 2);
}

/** The schema that a text holds; the text itself where it is no JSON, which the server then refuses by its field. */
function schemaOf(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Body of the request that creates an agent; without an empty telephone number. */
export function bodyOf(draft: AgentDraft): Readonly<Record<string, unknown>> {
  const { name, greeting, systemPrompt, voice, language, phoneNumber, tools } = draft;
  const number = phoneNumber.trim();
  return {
    name,
    greeting,
    systemPrompt,
    voice,
    language,
    tools,
    responsiveness: draft.responsiveness,
    model: draft.model === '' ? null : draft.model,
    calendar: draft.calendar === '' ? null : draft.calendar,
    smsGateway: draft.smsGateway === '' ? null : draft.smsGateway,
    extract: schemaOf(draft.extract),
    successCriteria: draft.successCriteria.trim() === '' ? null : draft.successCriteria,
    ...(number === '' ? {} : { phoneNumber: number }),
    settings: {
      maxDurationSeconds: Number(draft.maxDurationSeconds),
      silenceTimeoutSeconds: Number(draft.silenceTimeoutSeconds),
      interruptible: draft.isInterruptible,
      transferTargets: draft.transferTargets.map(trimmed),
      afterTransfer: draft.doesReturn ? 'return' : 'end',
      transferAcceptance: draft.transferAcceptance,
      pronunciations: draft.pronunciations,
      voicemail: {
        action: draft.voicemailAction,
        message: draft.voicemailMessage.trim() === '' ? null : draft.voicemailMessage,
      },
    },
  };
}

/** Body of the request that changes an agent: fields that differ from an earlier state of the form; empty for none. */
export function changesOf(draft: AgentDraft, begun: AgentDraft): Readonly<Record<string, unknown>> {
  const [now, before] = [bodyOf(draft), bodyOf(begun)];
  const settings = changedFields(now.settings as Fields, before.settings as Fields);
  const { settings: _, ...rest } = changedFields(now, before);
  return Object.keys(settings).length === 0 ? rest : { ...rest, settings };
}

/** The agent with this draft applied. */
export function agentWith(agent: Agent, draft: AgentDraft): Agent {
  const { settings, ...rest } = bodyOf(draft);
  const phoneNumber = draft.phoneNumber.trim() === '' ? null : draft.phoneNumber.trim();
  return {
    ...agent,
    ...rest,
    phoneNumber,
    settings: { ...agent.settings, ...(settings as object) },
  };
}

/** Whether the telephone number was taken out of the form. */
export function isNumberFreed(draft: AgentDraft, before: AgentDraft): boolean {
  return before.phoneNumber !== '' && draft.phoneNumber.trim() === '';
}

/** The draft without empty rows; send this one, so that the server's row numbers are the form's. */
export function withoutEmptyRows(draft: AgentDraft): AgentDraft {
  const pronunciations = filled(draft.pronunciations, ({ written, spoken }) => written + spoken);
  const transferTargets = filled(draft.transferTargets, ({ label, number }) => label + number);
  const isSame =
    pronunciations === draft.pronunciations && transferTargets === draft.transferTargets;
  return isSame ? draft : { ...draft, pronunciations, transferTargets };
}

function filled<Row>(rows: readonly Row[], textOf: (row: Row) => string): readonly Row[] {
  const kept = rows.filter((row) => textOf(row).trim() !== '');
  return kept.length === rows.length ? rows : kept;
}

function trimmed({ label, number }: TransferTarget): TransferTarget {
  return { label: label.trim(), number: number.trim() };
}

/** A line each: the label, a colon, the number. */
export function targetsText(targets: readonly TransferTarget[]): string {
  return targets.map(({ label, number }) => `${label}: ${number}`).join('\n');
}

/** Transfer targets of a text, one a line; the server refuses incomplete ones. */
export function targetsOf(text: string): readonly TransferTarget[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const colon = line.lastIndexOf(':');
    const [label, number] =
      colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1)];
    return { label: label.trim(), number: number.trim() };
  });
}

/** A form as it was left. */
export interface KeptDraft {
  readonly draft: AgentDraft;
  /** Initial values of the form: the server's draft, or the live agent where there is none. */
  readonly begun: AgentDraft;
  /** The live agent. */
  readonly live: AgentDraft;
  /** Version of the agent that the form began with: its `updatedAt`; empty for an agent that is not created yet. */
  readonly updatedAt: string;
  /** `updatedAt` of the server's draft that the form began with; undefined where there was none. */
  readonly savedAt?: string | undefined;
  /** Changes of that draft for which the form has no field. */
  readonly unshown?: Readonly<Record<string, unknown>>;
}

/** Kept form of any version of the page; older ones have no `live`. */
type Unchecked = Omit<KeptDraft, 'live'> & Partial<Pick<KeptDraft, 'live'>>;

/** @returns undefined without a kept form, and for one that cannot be read. */
export function keptDraft(box: Box, path: string): KeptDraft | undefined {
  try {
    const form: Unchecked | null = JSON.parse(kept(box, `draft.${path}`) ?? 'null');
    // A form of a version of the page whose targets were a text.
    if (!Array.isArray(form?.draft.transferTargets)) return undefined;
    // A form of a version of the page without drafts on the server began with the live agent.
    return { ...form, live: form.live ?? form.begun };
  } catch {
    // A form of another version of the page is ignored.
    return undefined;
  }
}

/** Keeps the form where it was changed, forgets it where it was not. */
export function keepDraft(box: Box, path: string, form: KeptDraft): void {
  const isChanged = JSON.stringify(form.draft) !== JSON.stringify(form.begun);
  keep(box, `draft.${path}`, isChanged ? JSON.stringify(form) : undefined);
}
