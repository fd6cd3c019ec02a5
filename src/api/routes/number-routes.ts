/** `/api/phone-numbers`: telephone numbers, whose they are, and which agents answer. */

import { z } from '@hono/zod-openapi';
import {
  assignNumber,
  type ListedNumber,
  liveNumber,
  NumberOwners,
  numberPage,
  unassignNumber,
} from '../../domain/dialing/number-owner.ts';
import type { Stores } from '../../domain/stores.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { isOperator, requireOperator } from '../http/access.ts';
import { jsonBody, jsonResponse, pageResponse, routesOf } from '../http/describe-route.ts';
import { pagingFields } from '../schemas/query-schemas.ts';
import { viewOf } from '../serializers.ts';

const number = z.string().openapi({
  description: 'E.164, or the beginning of numbers and a star.',
  example: '+390612345678',
});

const phoneNumberSchema = z
  .object({
    number,
    trunks: z.array(z.string()).openapi({
      description: 'The trunks that bring its calls; none: nothing rings there.',
      example: ['acme'],
    }),
    accountId: z.string().nullable().openapi({
      description:
        'The account that may use it: that of its assignment, else of its trunk. null: any, since no trunk has it.',
    }),
    agentId: z
      .string()
      .nullable()
      .openapi({ description: 'The agent of this account that answers.' }),
    agentName: z.string().nullable(),
    isTaken: z.boolean().openapi({
      description: 'Whether an agent answers, of this account or another. Another’s is not named.',
    }),
  })
  .openapi('PhoneNumber');

const phoneNumberPathSchema = z.object({ number });

const assignNumberSchema = z
  .strictObject({
    accountId: z.string().openapi({ example: 'acct_0VbZOZK8iLGcXSKvcmQMdaX5' }),
  })
  .openapi('AssignNumber');

const phoneNumberQuerySchema = z.strictObject(pagingFields({ default: 100, max: 500 }));

const readRoute = routesOf({ tag: 'Trunks', scope: 'agents:read' });

const adminRoute = routesOf({ tag: 'Trunks', scope: 'admin' });

const numbersRoute = readRoute('get', '/api/phone-numbers', {
  operationId: 'listPhoneNumbers',
  summary: 'Lists telephone numbers, and the agent that answers each',
  description:
    'The numbers of the account’s agents, and those of trunks and assignments that belong to the account, sorted; to an admin key of the first account, those of all accounts. With a test key only those of its agents: no trunk leads to the sandbox.',
  request: { query: phoneNumberQuerySchema },
  responses: { 200: pageResponse('A page of numbers.', 'PhoneNumberPage', phoneNumberSchema) },
});

const ofOperator =
  'A trunk’s numbers belong to the account that the trunk names, else to the first account. Needs a live key of the first account.';

const assignRoute = adminRoute('put', '/api/phone-numbers/{number}', {
  operationId: 'assignPhoneNumber',
  summary: 'Gives a telephone number to an account',
  description: `The number, or all that begin alike (\`+39061234*\`), may then be used by agents and calls of that account alone; a longer beginning counts before a shorter one. ${ofOperator} 409 while an agent of another account holds the number.`,
  request: { params: phoneNumberPathSchema, body: jsonBody(assignNumberSchema) },
  responses: { 200: jsonResponse('The number is the account’s.', phoneNumberSchema) },
  errors: [409, 422],
});

const unassignRoute = adminRoute('delete', '/api/phone-numbers/{number}', {
  operationId: 'unassignPhoneNumber',
  summary: 'Takes an assignment of a telephone number back',
  description: `${ofOperator} 409 while an agent holds the number whose account would lose it.`,
  request: { params: phoneNumberPathSchema },
  responses: { 204: { description: 'The number belongs to the account of its trunk.' } },
  errors: [409],
});

/** Adds `/api/phone-numbers`: which account each number belongs to. */
export function addNumberRoutes(api: ApiApp, deps: ApiDeps): void {
  const { trunks } = deps;
  const parts = {
    ...{ trunks, assignments: deps.numberAssignments },
    ...{ holders: deps.numberHolders, owners: deps.numberOwners },
  };

  const assigning = ({ accounts, numberAssignments: assignments, numberHolders }: Stores) => {
    const owners = new NumberOwners({ accounts, assignments, trunks });
    return { accounts, assignments, holders: numberHolders, owners };
  };

  api.openapi(numbersRoute, async (context) => {
    const { limit, offset } = context.req.valid('query');
    const scope = { ...scopeOf(context), isOperator: await isOperator(context, deps) };
    const page = await numberPage(parts, scope, { limit, offset });
    const data = page.items.map(numberView);
    return context.json({ data, total: page.total, limit, offset }, 200);
  });

  api.openapi(assignRoute, async (context) => {
    await requireOperator(context, deps);
    const { number } = context.req.valid('param');
    const { accountId } = context.req.valid('json');
    const request = { number, accountId, now: deps.clock.now() };
    await deps.transaction((stores) => assignNumber(request, assigning(stores)));
    return context.json(numberView(await liveNumber(parts, scopeOf(context), number)), 200);
  });

  api.openapi(unassignRoute, async (context) => {
    await requireOperator(context, deps);
    const { number } = context.req.valid('param');
    await deps.transaction((stores) => unassignNumber(number, assigning(stores)));
    return context.body(null, 204);
  });
}

function numberView({ owner, holder, ...listed }: ListedNumber) {
  return viewOf(phoneNumberSchema, {
    ...listed,
    accountId: owner ?? null,
    agentId: holder?.agentId ?? null,
    agentName: holder?.agentName ?? null,
  });
}
