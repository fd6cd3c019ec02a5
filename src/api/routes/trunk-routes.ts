/** `/api/trunks` and `/api/phone-numbers`: by which way calls come, and who answers them. */
import { createRoute } from '@hono/zod-openapi';
import { numberPage } from '../../domain/number-list.ts';
import { type ApiDeps, scopeOf } from '../api-env.ts';
import type { CheckedRoutes } from '../checked-routes.ts';
import { requireScope } from '../middleware/authentication.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';
import {
  phoneNumberPageSchema,
  phoneNumberQuerySchema,
  trunkListSchema,
} from '../schemas/trunk-schemas.ts';
import { phoneNumberView, trunkView } from '../trunk-view.ts';

const shared = { tags: ['Trunks'], security: [{ bearer: [] }] };

const trunksRoute = createRoute({
  ...shared,
  operationId: 'listTrunks',
  method: 'get',
  path: '/api/trunks',
  summary: 'Lists the SIP trunks and how each one is',
  description:
    'The trunks of the installation, as the operator has set them up: the same for every account and environment. Never a user name or password.',
  guards: [requireScope('admin')],
  request: { query: noQuery },
  responses: { 200: jsonResponse('Every trunk.', trunkListSchema), ...errorResponses(400) },
});

const numbersRoute = createRoute({
  ...shared,
  operationId: 'listPhoneNumbers',
  method: 'get',
  path: '/api/phone-numbers',
  summary: 'Lists telephone numbers, and the agent that answers each',
  description:
    'The numbers of the account’s agents and those of the trunks, sorted. With a test key only those of its agents: no trunk leads to the sandbox.',
  guards: [requireScope('agents:read')],
  request: { query: phoneNumberQuerySchema },
  responses: {
    200: jsonResponse('A page of numbers.', phoneNumberPageSchema),
    ...errorResponses(400),
  },
});

export function addTrunkRoutes(
  api: CheckedRoutes,
  { trunks, numberHolders: holders }: Pick<ApiDeps, 'trunks' | 'numberHolders'>,
): void {
  api.openapi(trunksRoute, (context) => context.json({ data: trunks.list().map(trunkView) }, 200));

  api.openapi(numbersRoute, (context) => {
    const { limit, offset } = context.valid('query');
    const page = numberPage({ trunks, holders }, scopeOf(context), { limit, offset });
    const data = page.numbers.map(phoneNumberView);
    return context.json({ data, total: page.total, limit, offset }, 200);
  });
}
