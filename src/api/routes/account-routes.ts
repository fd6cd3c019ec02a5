/** `/api/account`: shows and changes the account of a key, and its signing secrets; with the schemas of accounts. */
import { z } from '@hono/zod-openapi';
import {
  type Account,
  PLANS,
  PREVIOUS_SECRET_KEPT_MS,
  type SigningSecrets,
} from '../../domain/account/account.ts';
import {
  ACCOUNT_LIMITS,
  type AccountStore,
  COUNTRY_CODES,
  isCountryCode,
  patchAccount,
} from '../../domain/account/account-rules.ts';
import { newSigningSecret } from '../../domain/account/api-key.ts';
import { monthOf, periodOf } from '../../domain/analytics/period.ts';
import { CLOCK_TIME } from '../../domain/calendar/calendar.ts';
import { minutesOfDay, OPEN_DAYS } from '../../domain/dialing/calling-hours.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { isTimeZone } from '../../domain/zoned-time.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { answerOnce } from '../http/answer-once.ts';
import { jsonBody, jsonResponse, routesOf } from '../http/describe-route.ts';
import { allDifferent, transferTargetList, words } from '../schemas/agent-schemas.ts';
import { minutesOf, rounded, viewOf } from '../serializers.ts';

const timestamp = z.iso.datetime();

const minutes = z.number().min(0);

const COUNTRIES = 'ISO 3166 codes that may be called; null: the country of the calling number.';

const days = (what: string) =>
  z
    .int()
    .min(ACCOUNT_LIMITS.retentionDays.min)
    .max(ACCOUNT_LIMITS.retentionDays.max)
    .nullable()
    .openapi({ description: `${what}, in days from the call's start; null keeps for good.` });

const retention = {
  recordingsDays: days('How long recordings are kept'),
  transcriptsDays: days(
    'How long transcripts, summaries and the events that tell of them are kept',
  ),
  callsDays: days('How long calls are kept at all; what they add up to stays'),
};

const timeOfDay = z.string().regex(CLOCK_TIME, 'expected HH:MM');

const callingHours = z
  .strictObject({
    days: z
      .array(z.enum(OPEN_DAYS))
      .min(1)
      .max(OPEN_DAYS.length)
      .refine(allDifferent, 'days must differ'),
    from: timeOfDay.openapi({ example: '09:00' }),
    until: timeOfDay.openapi({
      example: '20:00',
      description: 'Exclusive; `24:00` is the end of the day.',
    }),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected an IANA time zone, such as Europe/Rome')
      .openapi({
        example: 'Europe/Rome',
        description:
          'For numbers of countries with several time zones; others have the time of their country.',
      }),
  })
  .refine(({ from, until }) => minutesOfDay(from) < minutesOfDay(until), {
    message: 'must be after from',
    path: ['until'],
  })
  .nullable()
  .openapi('CallingHours', {
    description:
      'When people may be rung by outbound calls, in the time of the called number; null: at any time. Calls wait in the queue outside of them.',
  });

const patchAccountSchema = z
  .strictObject({
    name: words(ACCOUNT_LIMITS.nameCharsMax).optional(),
    transferTargets: transferTargetList(ACCOUNT_LIMITS.transferTargetsMax).optional().openapi({
      description: "Where every agent may hand calls to, besides the agent's own list.",
    }),
    allowedCountries: z
      .array(
        z
          .string()
          .refine(isCountryCode, 'expected an ISO 3166 code, such as IT')
          .openapi({ enum: [...COUNTRY_CODES] }),
      )
      .max(ACCOUNT_LIMITS.allowedCountriesMax)
      .refine(allDifferent, 'countries must differ')
      .nullable()
      .optional()
      .openapi({ uniqueItems: true, description: COUNTRIES, example: ['IT', 'FR'] }),
    callingHours: callingHours.optional(),
    retention: z.strictObject(retention).partial().optional().openapi({
      description:
        'How long calls of both environments are kept. What is too old goes within ten minutes and does not come back.',
    }),
  })
  .openapi('PatchAccount', {
    minProperties: 1,
    description: 'Only the fields that are there change; one at least.',
  });

const accountSchema = z
  .object({
    id: z.string().openapi({ example: 'acct_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    name: z.string(),
    plan: z.enum(PLANS),
    environment: z.enum(['live', 'test']).openapi({ description: 'Of the key that asks.' }),
    minutesIncluded: minutes.openapi({ description: 'A calendar month.' }),
    minutesUsed: minutes.openapi({
      description:
        'In the environment, in the calendar month so far, one decimal; simulated ones cost nothing.',
    }),
    minutesRemaining: minutes.openapi({ description: 'Never less than 0.' }),
    period: z
      .object({ start: timestamp, end: timestamp })
      .openapi({ description: 'The calendar month in UTC, first and last millisecond.' }),
    transferTargets: z.array(z.object({ label: z.string(), number: z.string() })),
    allowedCountries: z.array(z.string()).nullable().openapi({ description: COUNTRIES }),
    callingHours,
    retention: z.object(retention),
    createdAt: timestamp,
  })
  .openapi('Account');

const secret = z.string().nullable().openapi({ example: 'whsec_plJ3nmyCDGBKInavdOK15jsl1AabcdeF' });

const signingSecretSchema = z
  .object({
    signingSecret: secret.openapi({
      description:
        'Signs `X-Service-Signature` and `webhook-signature`; null when the answer is a replay.',
    }),
    preparedSecret: secret.openapi({
      description:
        'Signs `webhook-signature` as well, until it is activated; null without one, and when the answer is a replay.',
    }),
    previousSecret: secret.openapi({
      description:
        'The one before the last activation, signs `webhook-signature` as well for 24 h; null without one, and when the answer is a replay.',
    }),
    previousValidUntil: timestamp.nullable(),
  })
  .openapi('SigningSecret');

const SECRET_PATH = '/api/account/signing-secret';

const KEPT_HOURS = PREVIOUS_SECRET_KEPT_MS / 3_600_000;

const readRoute = routesOf({ tag: 'Account', scope: 'analytics:read' });

const adminRoute = routesOf({ tag: 'Account', scope: 'admin' });

const getRoute = readRoute('get', '/api/account', {
  operationId: 'getAccount',
  summary: 'Shows the account of the key, with its plan and what it has used this month',
  responses: { 200: jsonResponse('The account.', accountSchema) },
});

const patchRoute = adminRoute('patch', '/api/account', {
  operationId: 'updateAccount',
  summary: 'Changes the fields that the body has',
  description:
    'Needs a live key: the account is one for both environments, and decides where real calls may go.',
  request: { body: jsonBody(patchAccountSchema) },
  responses: { 200: jsonResponse('The account was changed.', accountSchema) },
  errors: [422],
});

const secretRoute = adminRoute('get', SECRET_PATH, {
  operationId: 'getSigningSecret',
  summary: 'Shows the secrets that sign webhook deliveries of the environment',
  responses: {
    200: jsonResponse(
      'The current secret, the prepared one, and for a while the previous one.',
      signingSecretSchema,
    ),
  },
});

const prepareRoute = adminRoute('post', SECRET_PATH, {
  operationId: 'prepareSigningSecret',
  summary: 'Prepares a new signing secret for the environment',
  description:
    '`webhook-signature` holds a signature by each secret from now on; `X-Service-Signature` goes on with the current one. Give the prepared secret to your receivers, then activate it. 409 while one is prepared already.',
  responses: {
    200: jsonResponse('The secrets, with the prepared one.', signingSecretSchema),
  },
});

const activateRoute = adminRoute('post', `${SECRET_PATH}/activate`, {
  operationId: 'activateSigningSecret',
  summary: 'Makes the prepared signing secret the current one',
  description: `\`X-Service-Signature\` is made with it from now on. The one before goes on signing \`webhook-signature\` for ${KEPT_HOURS} h, or until it is dropped. 409 when none is prepared.`,
  responses: {
    200: jsonResponse('The secrets, with the previous one.', signingSecretSchema),
  },
});

const dropPreviousRoute = adminRoute('delete', `${SECRET_PATH}/previous`, {
  operationId: 'dropPreviousSigningSecret',
  summary: 'Drops the previous signing secret before its time',
  description: 'Fine as well when there is none.',
  responses: { 204: { description: 'There is no previous secret.' } },
});

const dropPreparedRoute = adminRoute('delete', `${SECRET_PATH}/prepared`, {
  operationId: 'dropPreparedSigningSecret',
  summary: 'Drops the prepared signing secret',
  description: 'Fine as well when there is none.',
  responses: { 204: { description: 'There is no prepared secret.' } },
});

/** Adds `/api/account` and its signing secrets. */
export function addAccountRoutes(api: ApiApp, deps: ApiDeps): void {
  addAccount(api, deps);
  addSigningSecret(api, deps);
}

function addAccount(api: ApiApp, deps: ApiDeps): void {
  api.openapi(getRoute, async (context) =>
    context.json(await accountView(context, await storedAccount(context, deps), deps), 200),
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
    return context.json(await accountView(context, changed, deps), 200);
  });
}

function addSigningSecret(api: ApiApp, deps: ApiDeps): void {
  const { accounts, clock, random } = deps;

  api.openapi(secretRoute, async (context) => {
    const { accountId, environment } = scopeOf(context);
    const secrets = await accounts.signingSecrets(accountId, environment, clock.now());
    if (secrets === undefined) throw new Error(`Account "${accountId}" has no signing secret`);
    return context.json(secretsView(secrets), 200);
  });

  const change = (
    context: ApiContext,
    write: (accounts: AccountStore) => Promise<SigningSecrets>,
  ) =>
    answerOnce(context, deps, {
      work: (commit) =>
        commit(async (stores) => {
          return { status: 200, body: secretsView(await write(stores.accounts)) };
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

/** The account as stored now; the key cache may be half a second old. */
async function storedAccount(
  context: ApiContext,
  { accounts }: Pick<ApiDeps, 'accounts'>,
): Promise<Account> {
  const { account } = callerOf(context);
  return (await accounts.find(account.id)) ?? account;
}

async function accountView(context: ApiContext, account: Account, { analytics, clock }: ApiDeps) {
  const scope = scopeOf(context);
  const now = clock.now();
  const days = await analytics.days(scope, periodOf('this_month', now));
  const minutesUsed = minutesOf(days.reduce((sum, { billedSeconds }) => sum + billedSeconds, 0));
  const { startsAt, endsAt } = monthOf(now);
  const end = new Date(endsAt.getTime() - 1).toISOString();
  return viewOf(accountSchema, {
    ...account,
    environment: scope.environment,
    minutesUsed,
    minutesRemaining: rounded(Math.max(0, account.minutesIncluded - minutesUsed), 1),
    period: { start: startsAt.toISOString(), end },
  });
}

function secretsView({ current, prepared, previous, previousUntil }: SigningSecrets) {
  return viewOf(signingSecretSchema, {
    signingSecret: current,
    preparedSecret: prepared,
    previousSecret: previous,
    previousValidUntil: previousUntil,
  });
}
