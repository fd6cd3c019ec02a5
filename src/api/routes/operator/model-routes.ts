/** `/api/models`: the models that can be downloaded, and the download under way. */
import {
  downloadWith,
  type ModelProfile,
  type WantedModels,
} from '../../../domain/models/model-downloads.ts';
import type { ApiApp, ApiDeps } from '../../api-env.ts';
import { answerOnce } from '../../http/answer-once.ts';
import { describeRoute } from '../../http/describe-route.ts';
import { NEEDS_OPERATOR_KEY, requireOperator } from '../../operator.ts';
import { jsonBody, jsonResponse } from '../../schemas/json-content.ts';
import {
  downloadPathSchema,
  modelCatalogueSchema,
  modelDownloadSchema,
  startDownloadSchema,
} from '../../schemas/model-schemas.ts';
import { viewOf } from '../../serializers/view-of.ts';

const shared = { tag: 'Models', scope: 'admin' } as const;

const DOWNLOADS = '/api/models/downloads';

const listRoute = describeRoute({
  ...shared,
  operationId: 'getModels',
  method: 'get',
  path: '/api/models',
  summary: 'Shows the models that can be downloaded, and what is there',
  description: `By profile, with size and licence. What runs now is in \`GET /readyz\`. ${NEEDS_OPERATOR_KEY}`,
  responses: {
    200: jsonResponse('Profiles, models and the newest download.', modelCatalogueSchema),
  },
});

const startRoute = describeRoute({
  ...shared,
  operationId: 'startModelDownload',
  method: 'post',
  path: DOWNLOADS,
  summary: 'Downloads the models of a profile, or one model',
  description: `As \`npm run models\` does, in a process of low priority: every file is checked before it gets its name. The server uses new files from its next start on. 409 while a download is under way, and where the disk is too small; 422 for an unknown model. ${NEEDS_OPERATOR_KEY}`,
  request: { body: jsonBody(startDownloadSchema) },
  responses: { 202: jsonResponse('The download has begun.', modelDownloadSchema) },
});

const getRoute = describeRoute({
  ...shared,
  operationId: 'getModelDownload',
  method: 'get',
  path: `${DOWNLOADS}/{downloadId}`,
  summary: 'Shows how far a download is',
  description: `The newest since the server started; 404 for any other. ${NEEDS_OPERATOR_KEY}`,
  request: { params: downloadPathSchema },
  responses: { 200: jsonResponse('The download.', modelDownloadSchema) },
});

const cancelRoute = describeRoute({
  ...shared,
  operationId: 'cancelModelDownload',
  method: 'delete',
  path: `${DOWNLOADS}/{downloadId}`,
  summary: 'Cancels a download',
  description: `What was downloaded stays, and the next download goes on from there. Changes nothing where it has ended. ${NEEDS_OPERATOR_KEY}`,
  request: { params: downloadPathSchema },
  responses: { 204: { description: 'The download has ended.' } },
});

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
