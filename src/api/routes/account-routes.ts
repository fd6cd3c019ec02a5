/** `/api/account`: shows and changes the account of a key, and its signing secrets. */

import type { z } from '@hono/zod-openapi';
import {
  type Account,
  PREVIOUS_SECRET_KEPT_MS,
  type SigningSecrets,
} from '../../domain/account/account.ts';
import { patchAccount } from '../../domain/account/account-rules.ts';
import type { AccountStore } from '../../domain/account/account-store.ts';
import { newSigningSecret } from '../../domain/account/api-key.ts';
import { periodOf } from '../../domain/analytics/period.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { requireScope } from '../http/authentication.ts';
import { describeRoute } from '../http/describe-route.ts';
import { noBody } from '../http/no-body.ts';
import {
  accountSchema,
  patchAccountSchema,
  signingSecretSchema,
} from '../schemas/account-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';
import { serializeAccount, serializeSigningSecret } from '../serializers/account-serializer.ts';

const SECRET_PATH = '/api/account/signing-secret';

const KEPT_HOURS = PREVIOUS_SECRET_KEPT_MS / 3_600_000;

const shared = { tags: ['Account'], security: [{ bearer: [] }] };

const getRoute = describeRoute({
  ...shared,
  operationId: 'getAccount',
  method: 'get',
  path: '/api/account',
  summary: 'Shows the account of the key, with its plan and what it has used this month',
  middleware: [requireScope('analytics:read')],
  request: { query: noQuery },
  responses: { 200: jsonResponse('The account.', accountSchema), ...errorResponses(400) },
});

const patchRoute = describeRoute({
  ...shared,
  operationId: 'updateAccount',
  method: 'patch',
  path: '/api/account',
  summary: 'Changes the fields that the body has',
  description:
    'Needs a live key: the account is one for both environments, and decides where real calls may go.',
  middleware: [requireScope('admin')],
  request: { query: noQuery, body: jsonBody(patchAccountSchema) },
  responses: {
    200: jsonResponse('The account was changed.', accountSchema),
    ...errorResponses(400, 422),
  },
});

const secretRoute = describeRoute({
  ...shared,
  operationId: 'getSigningSecret',
  method: 'get',
  path: SECRET_PATH,
  summary: 'Shows the secrets that sign webhook deliveries of the environment',
  middleware: [requireScope('admin')],
  request: { query: noQuery },
  responses: {
    200: jsonResponse(
      'The current secret, the prepared one, and for a while the previous one.',
      signingSecretSchema,
    ),
    ...errorResponses(400),
  },
});

const prepareRoute = describeRoute({
  ...shared,
  operationId: 'prepareSigningSecret',
  method: 'post',
  path: SECRET_PATH,
  summary: 'Prepares a new signing secret for the environment',
  description:
    '`webhook-signature` holds a signature by each secret from now on; `X-Service-Signature` goes on with the current one. Give the prepared secret to your receivers, then activate it. 409 while one is prepared already.',
  middleware: [requireScope('admin'), noBody],
  request: { query: noQuery },
  responses: {
    200: jsonResponse('The secrets, with the prepared one.', signingSecretSchema),
    ...errorResponses(400, 409, 422),
  },
});

const activateRoute = describeRoute({
  ...shared,
  operationId: 'activateSigningSecret',
  method: 'post',
  path: `${SECRET_PATH}/activate`,
  summary: 'Makes the prepared signing secret the current one',
  description: `\`X-Service-Signature\` is made with it from now on. The one before goes on signing \`webhook-signature\` for ${KEPT_HOURS} h, or until it is dropped. 409 when none is prepared.`,
  middleware: [requireScope('admin'), noBody],
  request: { query: noQuery },
  responses: {
    200: jsonResponse('The secrets, with the previous one.', signingSecretSchema),
    ...errorResponses(400, 409, 422),
  },
});

const dropPreviousRoute = describeRoute({
  ...shared,
  operationId: 'dropPreviousSigningSecret',
  method: 'delete',
  path: `${SECRET_PATH}/previous`,
  summary: 'Drops the previous signing secret before its time',
  description: 'Fine as well when there is none.',
  middleware: [requireScope('admin')],
  request: { query: noQuery },
  responses: { 204: { description: 'There is no previous secret.' }, ...errorResponses(400) },
});

const dropPreparedRoute = describeRoute({
  ...shared,
  operationId: 'dropPreparedSigningSecret',
  method: 'delete',
  path: `${SECRET_PATH}/prepared`,
  summary: 'Drops the prepared signing secret',
  description: 'Fine as well when there is none.',
  middleware: [requireScope('admin')],
  request: { query: noQuery },
  responses: { 204: { description: 'There is no prepared secret.' }, ...errorResponses(400) },
});

export function addAccountRoutes(api: ApiApp, deps: ApiDeps): void {
  addAccount(api, deps);
  addSigningSecret(api, deps);
}

function addAccount(api: ApiApp, deps: ApiDeps): void {
  api.openapi(getRoute, async (context) =>
    context.json(await viewOf(context, await storedAccount(context, deps), deps), 200),
  );

  api.openapi(patchRoute, async (context) => {
    const patch = context.req.valid('json');
    if (scopeOf(context).environment !== 'live') {
      throw new ServiceError('FORBIDDEN', 'Cannot change the account: this API key is a test key');
    }
    const changed = await deps.transaction(async (stores) => {
      const patched = patchAccount(await storedAccount(context, stores), patch);
      await stores.accounts.update(patched);
      return patched;
    });
    return context.json(await viewOf(context, changed, deps), 200);
  });
}

function addSigningSecret(api: ApiApp, deps: ApiDeps): void {
  const { accounts, clock, random } = deps;

  api.openapi(secretRoute, async (context) => {
    const { accountId, environment } = scopeOf(context);
    const secrets = await accounts.signingSecrets(accountId, environment, clock.now());
    if (secrets === undefined) throw new Error(`Account "${accountId}" has no signing secret`);
    return context.json(serializeSigningSecret(secrets), 200);
  });

  const change = (
    context: ApiContext,
    write: (accounts: AccountStore) => Promise<SigningSecrets>,
  ) =>
    answerOnce(context, deps, {
      work: (commit) =>
        commit(async (stores) => {
          return { status: 200, body: serializeSigningSecret(await write(stores.accounts)) };
        }),
      keep: (body) => ({
        ...body,
        ...{ signingSecret: null, preparedSecret: null, previousSecret: null },
      }),
    });

  api.openapi(prepareRoute, (context) =>
    change(context, (store) =>
      store.prepareSigningSecret(scopeOf(context), newSigningSecret(random), clock.now()),
    ),
  );

  api.openapi(activateRoute, (context) =>
    change(context, (store) => store.activateSigningSecret(scopeOf(context), clock.now())),
  );

  api.openapi(dropPreviousRoute, async (context) => {
    await accounts.dropSigningSecret(scopeOf(context), 'previous', clock.now());
    return context.body(null, 204);
  });

  api.openapi(dropPreparedRoute, async (context) => {
    await accounts.dropSigningSecret(scopeOf(context), 'prepared', clock.now());
    return context.body(null, 204);
  });
}

/** As it is kept now: the key cache may know it as it was half a second ago. */
async function storedAccount(
  context: ApiContext,
  { accounts }: Pick<ApiDeps, 'accounts'>,
): Promise<Account> {
  const { account } = callerOf(context);
  return (await accounts.find(account.id)) ?? account;
}

async function viewOf(
  context: ApiContext,
  account: Account,
  { analytics, clock }: ApiDeps,
): Promise<z.infer<typeof accountSchema>> {
  const scope = scopeOf(context);
  const now = clock.now();
  const days = await analytics.days(scope, periodOf('this_month', now));
  const seconds = days.reduce((sum, { billedSeconds }) => sum + billedSeconds, 0);
  return serializeAccount(account, { environment: scope.environment, seconds, now });
}
