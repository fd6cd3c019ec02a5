/** Schemas of agents in bodies and answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';
import { AFTER_TRANSFER, RESPONSIVENESS, VOICEMAIL_ACTIONS } from '../../domain/agent/agent.ts';
import {
  AGENT_LIMITS,
  AGENT_TOOLS,
  isPlainText,
  isSayable,
  MODEL_NAME,
  MODEL_NAME_CHARS_MAX,
} from '../../domain/agent/agent-rules.ts';
import { VOICE_ID } from '../../domain/agent/voice-catalogue.ts';
import { CALENDAR_NAME } from '../../domain/calendar/calendar.ts';
import { SMS_GATEWAY_NAME } from '../../domain/sms/sms-gateway.ts';
import { SCHEMA_LIMITS } from '../../domain/tool/argument-schema.ts';
import { TOOL_NAME } from '../../domain/tool/custom-tool.ts';
import { isLanguageTag } from '../../lib/language-tag.ts';
import { PAGE_LIMIT, pagingFields } from './query-schemas.ts';

const LIMITS = AGENT_LIMITS;

const seconds = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z.int().min(min).max(max);

/** A text that can be kept and given back as it came. */
export const words = (charsMax: number) =>
  z
    .string()
    .min(1)
    .max(charsMax)
    .refine(isPlainText, 'expected well-formed Unicode without NUL')
    .openapi({ pattern: PLAIN_TEXT });

/** JSON Schema's part of `isPlainText`; JSON itself has no half characters. */
export const PLAIN_TEXT = '^[^\\u0000]*$';

/** Text as in `words`, with at least one character that is not blank. */
export const moreThanBlanks = (charsMax: number) =>
  words(charsMax)
    .regex(/\S/, 'expected more than blanks')
    .openapi({ pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' });

/** Whether no value is there twice. */
export const allDifferent = (values: readonly string[]) => new Set(values).size === values.length;

/** List of transfer targets; no two have the same label. */
export const transferTargetList = (targetsMax: number) =>
  z
    .array(
      z.strictObject({
        label: words(LIMITS.transferLabelCharsMax).openapi({ example: 'sales' }),
        number: z.string().openapi({ description: 'E.164.', example: '+390612345678' }),
      }),
    )
    .max(targetsMax)
    .refine((targets) => allDifferent(targets.map(({ label }) => label)), 'labels must differ')
    .openapi({ uniqueItems: true });

const transferTargets = transferTargetList(LIMITS.transferTargetsMax).openapi({
  description: 'Where `transfer_call` may go; empty denies. The model sees labels.',
});

/** Rule of `words` and expression of `written` in one pattern. */
const ONE_LINE = '^[^\\s\\u0000](?:[^\\n\\r\\u0000]*[^\\s\\u0000])?$';

const pronunciations = z
  .array(
    z.strictObject({
      written: words(LIMITS.writtenCharsMax)
        .regex(/^\S(?:.*\S)?$/, 'expected one line without blanks around it')
        .openapi({ pattern: ONE_LINE, example: 'Nguyen' }),
      spoken: words(LIMITS.spokenCharsMax)
        .refine(isSayable, 'expected something to say')
        .openapi({ example: 'nwin' }),
    }),
  )
  .max(LIMITS.pronunciationsMax)
  .refine((list) => allDifferent(list.map(({ written }) => written)), 'written forms must differ')
  .openapi({
    uniqueItems: true,
    description:
      'How words are to be said; whole words only. Case matters where `written` has capitals. Transcripts keep the written form.',
  });

/** Action on an outgoing call that an answering machine takes, and the message to leave. */
export const voicemailSchema = z
  .strictObject({
    action: z.enum(VOICEMAIL_ACTIONS),
    message: moreThanBlanks(LIMITS.voicemailMessageCharsMax).nullable().optional().openapi({
      description:
        'What `leave_message` says, once and whole, after the greeting of the machine. Variables are filled in as in the greeting.',
      example: 'Hello, this is the dentist. Please call us back.',
    }),
  })
  .refine(({ action, message }) => action !== 'leave_message' || typeof message === 'string', {
    path: ['message'],
    message: 'leave_message needs a message',
  })
  .transform(({ action, message = null }) => ({ action, message }))
  .openapi('VoicemailInput', {
    type: 'object',
    description:
      'What happens when an answering machine takes an outbound call. `continue`: the agent talks as to a person. `hang_up`: the call ends as soon as the machine is known. `leave_message`: the agent is silent until the greeting of the machine is over (its beep, or silence), says `message` and hangs up. With the latter two the agent greets once a person is known to have answered: after their first words, or after 2 s of silence.',
  });

const settingsInput = z
  .strictObject({
    maxDurationSeconds: seconds(LIMITS.maxDurationSeconds)
      .optional()
      .openapi({ description: 'A call that lasts longer is ended.' }),
    silenceTimeoutSeconds: seconds(LIMITS.silenceTimeoutSeconds)
      .optional()
      .openapi({ description: 'A call that is silent for so long is ended.' }),
    interruptible: z
      .boolean()
      .optional()
      .openapi({ description: 'Whether the caller may interrupt the agent.' }),
    transferTargets: transferTargets.optional(),
    afterTransfer: z.enum(AFTER_TRANSFER).optional().openapi({
      description:
        'What becomes of a transferred call that stays on this server when the other party hangs up first: `end` ends it, `return` brings the caller back to the agent.',
    }),
    transferAcceptance: z.boolean().optional().openapi({
      description:
        'Whether a warm transfer needs the consent of the other party: a spoken yes or key 1. Without it, as with a mailbox, the caller stays with the agent.',
    }),
    pronunciations: pronunciations.optional(),
    voicemail: voicemailSchema.optional(),
  })
  .openapi('AgentSettingsInput', {
    description:
      'Defaults: 600 s, 10 s, true, no targets, `end`, true, no pronunciations, `continue`. A PATCH merges field by field.',
  });

const voice = z
  .string()
  .regex(VOICE_ID, 'expected a voice name, such as en-US-JennyNeural')
  .openapi({
    description: 'A new agent has en-US-JennyNeural unless given.',
    example: 'en-US-JennyNeural',
  });

const language = z
  .string()
  .max(35)
  .refine(isLanguageTag, 'expected a BCP 47 language tag, such as en-US')
  .openapi({
    pattern: '^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$',
    description: 'BCP 47. A new agent has en-US unless given.',
    example: 'en-US',
  });

const tools = z
  .array(z.string().regex(TOOL_NAME, 'expected the name of a tool'))
  .max(LIMITS.toolsMax)
  .refine(allDifferent, 'tools must differ')
  .openapi({
    uniqueItems: true,
    description: `What the agent may do besides speaking; none unless given: ${AGENT_TOOLS.join(', ')}, or names of GET /api/tools. An unknown name is 400.`,
    example: ['transfer_call'],
  });

const responsiveness = z.enum(RESPONSIVENESS).openapi({
  description:
    'How soon the agent takes a pause of the caller for the end of their turn: `fast` suits short answers, `patient` callers who think aloud. A new agent is balanced unless given.',
});

/** `MODEL_NAME` as a pattern for regular expressions without Unicode classes. */
const MODEL_NAME_PATTERN =
  '^[^\\s\\u0000-\\u001f\\u007f](?:[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f])?$';

const model = z
  .string()
  .max(MODEL_NAME_CHARS_MAX)
  .regex(MODEL_NAME, 'expected one line of printable characters without blanks around it')
  .nullable()
  .openapi({
    pattern: MODEL_NAME_PATTERN,
    description:
      "Language model of this agent's answers: a name of GET /api/language-models; an unknown one is 400, with names that there are. Where it fails during a call, the server's own model answers. null, unless given: the server's own.",
    example: null,
  });

const smsGateway = z
  .string()
  .regex(SMS_GATEWAY_NAME, 'expected the name of an SMS gateway')
  .nullable()
  .openapi({
    pattern: SMS_GATEWAY_NAME.source,
    description:
      'Name of GET /api/sms-gateways that `send_sms` uses; an unknown one is 400. null, unless given: the only gateway there is.',
  });

const calendar = z
  .string()
  .regex(CALENDAR_NAME, 'expected the name of a calendar')
  .nullable()
  .openapi({
    pattern: CALENDAR_NAME.source,
    description:
      'Name of GET /api/calendars that `book_appointment` books in; an unknown one is 400. null, unless given: none.',
  });

const extract = z
  .record(z.string(), z.unknown())
  .nullable()
  .openapi({
    description: `JSON Schema (an object) of what the language model reads out of each call after its end, into \`extracted\` of the call and of \`call.transcribed\`. At most ${SCHEMA_LIMITS.charsMax} characters and ${SCHEMA_LIMITS.depthMax} levels, of the keywords type, title, description, enum, minLength, maxLength, pattern, minimum, maximum, items, minItems, maxItems, properties, required. null, unless given: nothing.`,
    example: {
      type: 'object',
      properties: {
        orderNumber: { type: 'string' },
        wantsCallback: { type: 'boolean', description: 'Whether the caller asks to be called.' },
      },
      required: ['wantsCallback'],
    },
  });

const successCriteria = moreThanBlanks(LIMITS.successCriteriaCharsMax).nullable().openapi({
  description:
    'What a call must have achieved, in a sentence or two. After each call the language model answers whether it did, with a reason, in `success` of the call and of `call.transcribed`. null, unless given: calls are not judged.',
  example: 'The caller has an appointment, or knows when to call again.',
});

const phoneNumber = z.string().openapi({
  description: 'E.164. None: the agent is reached only by outbound calls, browser or sandbox.',
  example: '+390612345678',
});

const required = {
  name: moreThanBlanks(LIMITS.nameCharsMax).openapi({ example: 'Reception' }),
  greeting: moreThanBlanks(LIMITS.greetingCharsMax)
    .refine(isSayable, 'expected something to say')
    .openapi({
      description:
        'The first thing that the agent says. `{{name}}` is filled in from the metadata of the call, `{{from}}` and `{{to}}` with its numbers; `{{name|there}}` has a default.',
      example: 'Good morning, how can I help?',
    }),
  systemPrompt: moreThanBlanks(LIMITS.systemPromptCharsMax).openapi({
    description:
      'Instructions for the agent; they are never spoken. Variables are filled in as in the greeting.',
    example: 'You answer the telephone of a dentist. Be friendly and brief.',
  }),
};

const optional = {
  voice: voice.optional(),
  language: language.optional(),
  phoneNumber: phoneNumber.optional(),
  tools: tools.optional(),
  responsiveness: responsiveness.optional(),
  model: model.optional(),
  smsGateway: smsGateway.optional(),
  calendar: calendar.optional(),
  extract: extract.optional(),
  successCriteria: successCriteria.optional(),
  settings: settingsInput.optional(),
};

const status = z.enum(['active', 'paused']);

/** Body of `POST /api/agents`. */
export const createAgentSchema = z
  .strictObject({ ...required, ...optional })
  .openapi('CreateAgent');

/** Body of `PATCH /api/agents/{agentId}`: any of the fields. */
export const patchAgentSchema = z
  .strictObject({
    ...z.object(required).partial().shape,
    ...optional,
    phoneNumber: phoneNumber.nullable().optional().openapi({
      description:
        'E.164. null leaves an agent without a number as it is, and is 400 where it has one.',
    }),
    status: status.optional(),
  })
  .openapi('PatchAgent', {
    minProperties: 1,
    description: 'Only the fields that are there change; one at least.',
  });

const timestamp = z.iso.datetime();

const id = z.string().openapi({ example: 'agent_0VbZOZK8iLGcXSKvcmQMdaX5' });

const usage = {
  totalCallsToday: z.int().openapi({ description: 'Calls started since 00:00 UTC.' }),
  totalMinutesToday: z.number().openapi({ description: 'Their minutes, rounded to 0.1.' }),
};

/** An agent with all its settings. */
export const agentSchema = z
  .object({
    id,
    name: z.string(),
    greeting: z.string(),
    systemPrompt: z.string(),
    voice: z.string(),
    language: z.string(),
    phoneNumber: z.string().nullable(),
    tools: z.array(z.string()),
    responsiveness: z.enum(RESPONSIVENESS),
    model: z.string().nullable(),
    smsGateway: z.string().nullable(),
    calendar: z.string().nullable(),
    extract: z.record(z.string(), z.unknown()).nullable(),
    successCriteria: z.string().nullable(),
    settings: z.object({
      maxDurationSeconds: z.int(),
      silenceTimeoutSeconds: z.int(),
      interruptible: z.boolean(),
      transferTargets: z.array(z.object({ label: z.string(), number: z.string() })),
      afterTransfer: z.enum(AFTER_TRANSFER),
      transferAcceptance: z.boolean(),
      pronunciations: z.array(z.object({ written: z.string(), spoken: z.string() })),
      voicemail: z.object({ action: z.enum(VOICEMAIL_ACTIONS), message: z.string().nullable() }),
    }),
    status,
    ...usage,
    draftAt: timestamp
      .nullable()
      .openapi({ description: 'When its draft was saved; null where it has none.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi('Agent');

/** An agent in a list: without its long texts. */
export const agentItemSchema = agentSchema
  .pick({
    id: true,
    name: true,
    status: true,
    voice: true,
    language: true,
    phoneNumber: true,
    totalCallsToday: true,
    totalMinutesToday: true,
    createdAt: true,
    updatedAt: true,
  })
  .openapi('AgentItem');

/** Answer to `POST /api/agents`. */
export const createdAgentSchema = agentSchema
  .pick({ id: true, name: true, status: true, createdAt: true })
  .openapi('CreatedAgent');

/** Answer to `PATCH /api/agents/{agentId}`. */
export const patchedAgentSchema = agentSchema
  .pick({ id: true, name: true, status: true, updatedAt: true })
  .openapi('PatchedAgent');

/** Query of the list of agents. */
export const agentQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  status: z.enum(['active', 'paused', 'all']).default('all'),
});
