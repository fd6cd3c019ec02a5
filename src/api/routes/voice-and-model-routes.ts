/** `/api/voices` and `/api/language-models`: voices, with previews, and language models that agents can be given. */
import { z } from '@hono/zod-openapi';
import { isPlainText, isSayable } from '../../domain/agent/agent-rules.ts';
import { PREVIEW_CHARACTERS_MAX } from '../../domain/agent/voice-catalogue.ts';
import { given } from '../../domain/ids.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { describeRoute, jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { PAGE_LIMIT, pagingFields } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';

const voiceSchema = z
  .object({
    id: z.string().openapi({
      description: 'What an agent names as its `voice`.',
      example: 'en-US-JennyNeural',
    }),
    locale: z.string().openapi({
      example: 'en-US',
      description: '`und` for a voice of a speech server that does not tell its language.',
    }),
    language: z.string().openapi({ example: 'en' }),
    name: z.string().openapi({ example: 'Jenny' }),
    gender: z.enum(['female', 'male', 'unknown']),
    engine: z.string().openapi({ description: 'What speaks it on this server now.' }),
    isFallback: z
      .boolean()
      .openapi({ description: 'Whether the engine stands in for a better one.' }),
    sampleUrl: z.url().openapi({ description: 'Its preview; needs a key like every request.' }),
  })
  .openapi('Voice');

const voiceQuerySchema = z.strictObject({
  ...pagingFields(PAGE_LIMIT),
  locale: z
    .string()
    .regex(/^[A-Za-z]{2,3}-[A-Za-z0-9]{2,3}$/, 'expected a language and a region, such as en-US')
    .optional(),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}$/, 'expected an ISO 639 code, such as en')
    .optional(),
});

const previewQuerySchema = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(PREVIEW_CHARACTERS_MAX)
    .refine(isSayable, 'expected something to say')
    .refine(isPlainText, 'expected well-formed Unicode without NUL')
    .optional()
    .openapi({
      param: { description: 'What to say; unless given, a sentence in the voice’s language.' },
    }),
});

/** A sentence is made in less. */
const RETRY_AFTER_SECONDS = 1;

const readRoute = routesOf({ tag: 'Voices', scope: 'agents:read' });

const listRoute = readRoute('get', '/api/voices', {
  operationId: 'listVoices',
  summary: 'Lists the voices that this server can speak, by id',
  description:
    'The same for every account. Which engine speaks a voice depends on the models that are installed. Voices of speech servers (`TTS=openai`, `wyoming`) are listed by their own names once a server has told them.',
  request: { query: voiceQuerySchema },
  responses: { 200: pageResponse('A page of voices.', 'VoicePage', voiceSchema) },
});

const previewRoute = readRoute('get', '/api/voices/{voiceId}/preview', {
  operationId: 'previewVoice',
  summary: 'Says a sentence as callers would hear it',
  description:
    'A WAV file as on the telephone: 8 kHz, mono, 16-bit. 503 with `Retry-After` while too many previews are being made.',
  request: { query: previewQuerySchema },
  responses: {
    200: {
      description: 'The sentence.',
      content: { 'audio/wav': { schema: z.string().openapi({ format: 'binary' }) } },
    },
  },
});

/** Adds `/api/voices` and the preview of a voice. */
export function addVoiceRoutes(
  api: ApiApp,
  { voices, publicUrl }: Pick<ApiDeps, 'voices' | 'publicUrl'>,
): void {
  api.openapi(listRoute, (context) => {
    const { limit, offset, locale, language } = context.req.valid('query');
    const found = voices.list(given({ locale, language }));
    const data = found.slice(offset, offset + limit).map((voice) => {
      const sampleUrl = `${publicUrl}/api/voices/${encodeURIComponent(voice.id)}/preview`;
      return viewOf(voiceSchema, { ...voice, sampleUrl });
    });
    return context.json({ data, total: found.length, limit, offset }, 200);
  });

  api.openapi(previewRoute, async (context) => {
    const { voiceId } = context.req.valid('param');
    const { text } = context.req.valid('query');
    const wav = await voices.preview(voiceId, text);
    if (wav === null) {
      context.set('retryAfterSeconds', RETRY_AFTER_SECONDS);
      throw new ServiceError(
        'SERVICE_UNAVAILABLE',
        'Cannot preview the voice: too many previews are being made; retry later',
      );
    }
    context.header('Content-Type', 'audio/wav');
    context.header('Cache-Control', 'private, no-cache');
    context.header('Content-Length', String(wav.length));
    if (context.req.method === 'HEAD') return context.body(null, 200);
    return context.body(new Uint8Array(wav), 200);
  });
}

const languageModelsSchema = z
  .object({
    ownModel: z.string().openapi({
      description: 'What answers now for agents whose `model` is null.',
      example: 'ollama/qwen3:4b',
    }),
    models: z.array(z.string()).openapi({
      description:
        'What an agent can name as its `model`, sorted; empty where there is nothing to choose, and while the model server does not answer.',
      example: ['llama3.2:3b', 'qwen3:4b'],
    }),
  })
  .openapi('LanguageModels');

const getRoute = describeRoute('get', '/api/language-models', {
  tag: 'Agents',
  scope: 'agents:read',
  operationId: 'getLanguageModels',
  summary: 'Shows the language models that agents can be given',
  description:
    'The same for every account: the models of the first engine in `LLM`, where that is Ollama or an OpenAI-compatible server. llama.cpp and the rule book have one model each, and nothing to choose. The list may be 5 s old.',
  responses: { 200: jsonResponse('Names of models.', languageModelsSchema) },
});

/** Adds `/api/language-models`: models that agents may name. */
export function addLanguageModelRoutes(
  api: ApiApp,
  { languageModels }: Pick<ApiDeps, 'languageModels'>,
): void {
  api.openapi(getRoute, async (context) => {
    const models = [...((await languageModels.names()) ?? [])];
    return context.json({ ownModel: languageModels.ownName, models }, 200);
  });
}
