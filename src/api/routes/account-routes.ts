/** `/api/account`: shows and changes the account of a key, and its signing secrets. */
import { createRoute, type z } from '@hono/zod-openapi';
import { type Account, PREVIOUS_SECRET_KEPT_MS } from '../../domain/account.ts';
import { patchAccount } from '../../domain/account-rules.ts';
import { newSigningSecret } from '../../domain/api-key.ts';
import { periodOf } from '../../domain/period.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { accountView, signingSecretView } from '../account-view.ts';
import { answerOnce } from '../answer-once.ts';
import { type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import type { CheckedRoutes } from '../checked-routes.ts';
import { requireScope } from '../middleware/authentication.ts';
import { noBody } from '../middleware/no-body.ts';
import {
  accountSchema,
  patchAccountSchema,
  signingSecretSchema,
} from '../schemas/account-schemas.ts';
import { errorResponses } from '../schemas/error-schema.ts';
import { jsonBody, jsonResponse } from '../schemas/json-content.ts';
import { noQuery } from '../schemas/no-query-schema.ts';

const KEPT_HOURS = PREVIOUS_SECRET_KEPT_MS / 3_600_000;

const shared = { tags: ['Account'], security: [{ bearer: [] }] };

const getRoute = createRoute({
  ...shared,
  operationId: 'getAccount',
  method: 'get',
  path: '/api/account',
  summary: 'Shows the account of the key, with its plan and what it has used this month',
  guards: [requireScope('analytics:read')],
  request: { query: noQuery },
  responses: { 200: jsonResponse('The account.', accountSchema), ...errorResponses(400) },
});

const patchRoute = createRoute({
  ...shared,
  operationId: 'updateAccount',
  method: 'patch',
  path: '/api/account',
  summary: 'Changes the fields that the body has',
  description:
    'Needs a live key: the account is one for both environments, and decides where real calls may go.',
  guards: [requireScope('admin')],
  request: { query: noQuery, body: jsonBody(patchAccountSchema) },
  responses: {
    200: jsonResponse('The account was changed.', accountSchema),
    ...errorResponses(400, 422),
  },
});

const secretRoute = createRoute({
  ...shared,
  operationId: 'getSigningSecret',
  method: 'get',
  path: '/api/account/signing-secret',
  summary: 'Shows the secret that signs webhook deliveries of the environment',
  guards: [requireScope('admin')],
  request: { query: noQuery },
  responses: {
    200: jsonResponse('The secret, and for a while the one before.', signingSecretSchema),
    ...errorResponses(400),
  },
});

const rotateRoute = createRoute({
  ...shared,
  operationId: 'rotateSigningSecret',
  method: 'post',
  path: '/api/account/signing-secret/rotate',
  summary: 'Makes a new signing secret for the environment',
  description: `Deliveries are signed with it from now on. For ${KEPT_HOURS} h the one before can be read, and its signature is sent beside the new one in \`webhook-signature\`.`,
  guards: [requireScope('admin'), noBody],
  request: { query: noQuery },
  responses: {
    200: jsonResponse('The new secret, and the one before.', signingSecretSchema),
    ...errorResponses(400, 422),
  },
});

export function addAccountRoutes(api: CheckedRoutes, deps: ApiDeps): void {
  addAccount(api, deps);
  addSigningSecret(api, deps);
}

function addAccount(api: CheckedRoutes, deps: ApiDeps): void {
  api.openapi(getRoute, (context) =>
    context.json(viewOf(context, storedAccount(context, deps), deps), 200),
  );

  api.openapi(patchRoute, (context) => {
    const patch = context.valid('json');
    if (scopeOf(context).environment !== 'live') {
      throw new ServiceError('FORBIDDEN', 'Cannot change the account: this API key is a test key');
    }
    const changed = patchAccount(storedAccount(context, deps), patch);
    deps.accounts.update(changed);
    return context.json(viewOf(context, changed, deps), 200);
  });
}

function addSigningSecret(api: CheckedRoutes, deps: ApiDeps): void {
  const { accounts, clock, random } = deps;

  api.openapi(secretRoute, (context) => {
    const { accountId, environment } = scopeOf(context);
    const secrets = accounts.signingSecrets(accountId, environment, clock.now());
    if (secrets === undefined) throw new Error(`Account "${accountId}" has no signing secret`);
    return context.json(signingSecretView(secrets), 200);
  });

  api.openapi(rotateRoute, (context) => {
    const { accountId, environment } = scopeOf(context);
    return answerOnce(context, deps, {
      work: () => {
        const secret = newSigningSecret(random);
        const secrets = accounts.rotateSigningSecret(accountId, environment, secret, clock.now());
        return { status: 200, body: signingSecretView(secrets) };
      },
      keep: (body) => ({ ...body, signingSecret: null, previousSecret: null }),
    });
  });
}

/** As it is kept now: the key cache may know it as it was half a second ago. */
function storedAccount(context: ApiContext, deps: ApiDeps): Account {
  const { account } = callerOf(context);
  return deps.accounts.find(account.id) ?? account;
}

function viewOf(
  context: ApiContext,
  account: Account,
  { analytics, clock }: ApiDeps,
): z.infer<typeof accountSchema> {
  const scope = scopeOf(context);
  const now = clock.now();
  const days = analytics.days(scope, periodOf('this_month', now));
  const seconds = days.reduce((sum, { billedSeconds }) => sum + billedSeconds, 0);
  return accountView(account, { environment: scope.environment, seconds, now });
}
