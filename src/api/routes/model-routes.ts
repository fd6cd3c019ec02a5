/** `/api/models`: the models that can be downloaded, and the download under way. */
import { z } from '@hono/zod-openapi';
import {
  DOWNLOAD_STATES,
  downloadWith,
  MODEL_KINDS,
  MODEL_PROFILES,
  MODEL_STATES,
  type ModelProfile,
  type WantedModels,
} from '../../domain/model-downloads.ts';
import type { ApiApp, ApiDeps } from '../api-env.ts';
import { NEEDS_OPERATOR_KEY, requireOperator } from '../http/access.ts';
import { answerOnce } from '../http/answer-once.ts';
import { jsonBody, jsonResponse, routesOf } from '../http/describe-route.ts';
import { viewOf } from '../serializers.ts';

const profile = z.enum(MODEL_PROFILES);

const bytes = z.int().openapi({ example: 2_327_524 });

const modelSchema = z
  .object({
    id: z.string().openapi({ example: 'silero-vad-v5' }),
    kind: z.enum(MODEL_KINDS).openapi({
      description:
        '`vad` finds speech, `turn` the end of a turn, `stt` hears words, `tts` speaks; `gguf` is a language model in a process of the server, `llm` one that Ollama keeps; `embedding` finds passages of documents.',
    }),
    name: z.string().openapi({ example: 'Silero VAD v5' }),
    engine: z.string().openapi({ description: 'The engine that uses it.', example: 'silero' }),
    licence: z.string().openapi({ description: 'An SPDX expression.', example: 'MIT' }),
    licenceUrl: z.string(),
    licenceNote: z.string().nullable().openapi({ description: 'Required credit, or a doubt.' }),
    languages: z.array(z.string()).openapi({ example: ['any'] }),
    sizeBytes: bytes,
    missingBytes: bytes.openapi({ description: 'What is not on the disk.' }),
    state: z.enum(MODEL_STATES).openapi({ description: 'By the lengths of its files.' }),
  })
  .openapi('Model');

const profileSchema = z
  .object({
    name: profile,
    modelIds: z.array(z.string()).openapi({
      description: 'With one language model: the one that this server would use.',
    }),
    sizeBytes: bytes,
    missingBytes: bytes,
  })
  .openapi('ModelProfile');

const modelDownloadSchema = z
  .object({
    id: z.string().openapi({ example: 'dl_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    profile: profile.nullable(),
    modelId: z.string().nullable(),
    state: z.enum(DOWNLOAD_STATES),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    doneBytes: bytes.openapi({ description: 'Of all that is wanted, what was there included.' }),
    totalBytes: bytes,
    bytesPerSecond: z.int(),
    files: z.array(z.string()).openapi({
      description:
        'Files that are being downloaded; empty while files are checked, prepared or installed.',
    }),
    problem: z.string().nullable().openapi({ description: 'Why it failed, and what to do.' }),
  })
  .openapi('ModelDownload');

const modelCatalogueSchema = z
  .object({
    profiles: z.array(profileSchema),
    models: z.array(modelSchema),
    downloads: z.array(modelDownloadSchema).openapi({
      description: 'The newest since the server started; empty where there was none.',
    }),
    isRestartNeeded: z.boolean().openapi({
      description: 'Whether a download has ended well: its files are used from the next start on.',
    }),
  })
  .openapi('ModelCatalogue');

const startDownloadSchema = z
  .strictObject({
    profile: profile.optional(),
    modelId: z.string().min(1).max(80).optional().openapi({ example: 'silero-vad-v5' }),
  })
  .refine((body) => (body.profile === undefined) !== (body.modelId === undefined), {
    message: 'expected either profile or modelId',
    path: ['profile'],
  })
  .openapi('ModelDownloadRequest');

const adminRoute = routesOf({ tag: 'Models', scope: 'admin' });

const DOWNLOADS = '/api/models/downloads';

const listRoute = adminRoute('get', '/api/models', {
  operationId: 'getModels',
  summary: 'Shows the models that can be downloaded, and what is there',
  description: `By profile, with size and licence. What runs now is in \`GET /readyz\`. ${NEEDS_OPERATOR_KEY}`,
  responses: {
    200: jsonResponse('Profiles, models and the newest download.', modelCatalogueSchema),
  },
});

const startRoute = adminRoute('post', DOWNLOADS, {
  operationId: 'startModelDownload',
  summary: 'Downloads the models of a profile, or one model',
  description: `As \`npm run models\` does, in a process of low priority: every file is checked before it gets its name. The server uses new files from its next start on. 409 while a download is under way, and where the disk is too small; 422 for an unknown model. ${NEEDS_OPERATOR_KEY}`,
  request: { body: jsonBody(startDownloadSchema) },
  responses: { 202: jsonResponse('The download has begun.', modelDownloadSchema) },
});

const getRoute = adminRoute('get', `${DOWNLOADS}/{downloadId}`, {
  operationId: 'getModelDownload',
  summary: 'Shows how far a download is',
  description: `The newest since the server started; 404 for any other. ${NEEDS_OPERATOR_KEY}`,
  responses: { 200: jsonResponse('The download.', modelDownloadSchema) },
});

const cancelRoute = adminRoute('delete', `${DOWNLOADS}/{downloadId}`, {
  operationId: 'cancelModelDownload',
  summary: 'Cancels a download',
  description: `What was downloaded stays, and the next download goes on from there. Changes nothing where it has ended. ${NEEDS_OPERATOR_KEY}`,
  responses: { 204: { description: 'The download has ended.' } },
});

/** Adds `/api/models`: the catalogue and downloads of models. */
export function addModelRoutes(api: ApiApp, deps: ApiDeps): void {
  const { modelDownloads } = deps;

  api.openapi(listRoute, async (context) => {
    await requireOperator(context, deps);
    const catalogue = await modelDownloads.catalogue();
    const { newest } = modelDownloads;
    const downloads = newest === undefined ? [] : [viewOf(modelDownloadSchema, newest)];
    return context.json(modelCatalogueSchema.parse({ ...catalogue, downloads }), 200);
  });

  api.openapi(startRoute, async (context) => {
    await requireOperator(context, deps);
    const wanted = wantedOf(context.req.valid('json'));
    return answerOnce(context, deps, {
      work: async () => {
        const download = await modelDownloads.start(wanted);
        context.set('auditResource', download.id);
        return { status: 202, body: viewOf(modelDownloadSchema, download) };
      },
    });
  });

  api.openapi(getRoute, async (context) => {
    await requireOperator(context, deps);
    const { downloadId } = context.req.valid('param');
    const download = downloadWith(downloadId, modelDownloads);
    return context.json(viewOf(modelDownloadSchema, download), 200);
  });

  api.openapi(cancelRoute, async (context) => {
    await requireOperator(context, deps);
    downloadWith(context.req.valid('param').downloadId, modelDownloads);
    await modelDownloads.cancel();
    return context.body(null, 204);
  });
}

/** The schema has seen to it that one of the two is given. */
function wantedOf({
  profile,
  modelId = '',
}: {
  readonly profile?: ModelProfile | undefined;
  readonly modelId?: string | undefined;
}): WantedModels {
  return profile === undefined ? { modelId } : { profile };
}
