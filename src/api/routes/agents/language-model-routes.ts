/** `/api/language-models`: which language models agents can be given. */
import { z } from '@hono/zod-openapi';
import type { ApiApp, ApiDeps } from '../../api-env.ts';
import { describeRoute } from '../../http/describe-route.ts';
import { jsonResponse } from '../../schemas/json-content.ts';

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

const getRoute = describeRoute({
  tag: 'Agents',
  operationId: 'getLanguageModels',
  method: 'get',
  path: '/api/language-models',
  summary: 'Shows the language models that agents can be given',
  description:
    'The same for every account: the models of the first engine in `LLM`, where that is Ollama or an OpenAI-compatible server. llama.cpp and the rule book have one model each, and nothing to choose. The list may be 5 s old.',
  scope: 'agents:read',
  responses: { 200: jsonResponse('Names of models.', languageModelsSchema) },
});

export function addLanguageModelRoutes(
  api: ApiApp,
  { languageModels }: Pick<ApiDeps, 'languageModels'>,
): void {
  api.openapi(getRoute, async (context) => {
    const models = [...((await languageModels.names()) ?? [])];
    return context.json({ ownModel: languageModels.ownName, models }, 200);
  });
}
