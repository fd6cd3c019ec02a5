/** `admin webhooks …`, `admin secret …` and `admin forget-secrets`: deliveries, signing secrets, lost sealing keys. */
import { type Command, Option } from 'commander';
import type { Environment, SigningSecrets } from '../domain/account/account.ts';
import { newSigningSecret } from '../domain/account/api-key.ts';
import type { Scope } from '../domain/agent/agent.ts';
import { EVENTS_KEPT_MS } from '../domain/webhook/service-event.ts';
import type { WebhookDelivery } from '../domain/webhook/webhook-delivery.ts';
import { openDatabase } from '../store/sqlite/database.ts';
import { openBox, sealAgain } from '../store/sqlite/sealed-columns.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  environmentOption,
  existingDatabaseFile,
  instantOption,
  patiently,
  type Result,
  showing,
  table,
  UsageError,
} from './admin-command.ts';

/** Deliveries read from the database at a time. */
const PAGE_SIZE = 100;

/** Deliveries shown at most; a receiver that was down for a day has more than an operator would read. */
const SHOWN_MAX = 1000;

/** Most transactions of resends; the first one that resends nothing is the last. */
const ROUNDS_MAX = 1000;

interface WebhookOptions {
  readonly account?: string;
  readonly environment?: Environment;
  readonly endpoint?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly all?: boolean;
}

/** Adds `admin webhooks`. */
export function addWebhookCommands(root: Command, console: Console): void {
  const webhooks = root.command('webhooks').description('webhook deliveries');

  const failed = webhooks.command('failed').description('lists deliveries that failed for good');
  addFilters(failed);
  atDesk(failed, console, listFailed);

  const resend = webhooks
    .command('resend')
    .argument('[deliveryId]', 'which, as "webhooks failed" shows it')
    .description('sends one delivery again, or with --all all that failed');
  resend.option('--all', 'all that failed, of the last 30 days unless --since says otherwise');
  addFilters(resend);
  resend.addOption(
    new Option('--until <time>', 'of events before this time').argParser(instantOption),
  );
  atDesk(resend, console, sendAgain);
}

function addFilters(command: Command): void {
  command.option('--account <id>', 'only of this account');
  command.option('--environment <name>', 'only live or only test', environmentOption);
  command.option('--endpoint <id>', 'only to this endpoint');
  command.option(
    '--since <time>',
    'from this time on: 2026-11-20T12:00:00Z, 24h, 7d',
    instantOption,
  );
}

async function listFailed(desk: Desk, options: WebhookOptions): Promise<Result> {
  const failed: WebhookDelivery[] = [];
  for (const scope of await scopesOf(desk, options)) {
    for await (const delivery of await failedOf(desk, scope, options)) failed.push(delivery);
  }
  const deliveries = failed.slice(0, SHOWN_MAX);
  const head = ['ID', 'EVENT', 'ENDPOINT', 'ATTEMPTS', 'STATUS', 'FINISHED', 'WHY'];
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.eventKind,
    delivery.endpointId,
    String(delivery.attempts),
    String(delivery.lastStatusCode ?? '-'),
    delivery.finishedAt?.toISOString() ?? '-',
    delivery.lastError ?? '',
  ]);
  return {
    text: table([head, ...rows], 'No delivery has failed.'),
    json: deliveries.map(shownDelivery),
  };
}

/** Under the names of the REST interface. */
function shownDelivery({ eventKind, ...delivery }: WebhookDelivery): object {
  return { ...delivery, event: eventKind };
}

/** Newest first, page by page. */
async function* failedOf(
  desk: Desk,
  scope: Scope,
  options: WebhookOptions,
): AsyncIterable<WebhookDelivery> {
  const { endpoint, since } = options;
  const query = { status: 'failed' as const, ...(endpoint && { endpointId: endpoint }) };
  for (let offset = 0; offset < SHOWN_MAX; offset += PAGE_SIZE) {
    const { items: deliveries } = await desk.store.deliveries.list(scope, {
      ...query,
      limit: PAGE_SIZE,
      offset,
    });
    for (const delivery of deliveries) {
      if (since !== undefined && delivery.createdAt < since) return;
      yield delivery;
    }
    if (deliveries.length < PAGE_SIZE) return;
  }
}

async function sendAgain(desk: Desk, options: WebhookOptions, deliveryId = ''): Promise<Result> {
  if ((deliveryId === '') === (options.all !== true)) {
    throw new UsageError('Which deliveries? Give the id of one, or --all');
  }
  return deliveryId === ''
    ? await sendAllAgain(desk, options)
    : await sendOneAgain(desk, deliveryId);
}

async function sendOneAgain(desk: Desk, deliveryId: string): Promise<Result> {
  const scopes = await scopesOf(desk, {});
  const found = await Promise.all(
    scopes.map((each) => desk.store.deliveries.find(each, deliveryId)),
  );
  const scope = scopes.find((_each, index) => found[index] !== undefined);
  if (scope === undefined) {
    throw new Error(`There is no delivery "${deliveryId}": "webhooks failed" shows the ids`);
  }
  const delivery = await patiently(() => desk.store.deliveries.resend(scope, deliveryId, desk.now));
  return { text: `The delivery ${deliveryId} goes out again.`, json: shownDelivery(delivery) };
}

async function sendAllAgain(desk: Desk, options: WebhookOptions): Promise<Result> {
  const { now, store } = desk;
  const range = {
    from: options.since ?? new Date(now.getTime() - EVENTS_KEPT_MS),
    before: options.until ?? now,
    ...(options.endpoint && { endpointId: options.endpoint }),
  };
  let resent = 0;
  for (const scope of await scopesOf(desk, options)) {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const count = await patiently(() => store.deliveries.resendRange(scope, range, now));
      resent += count;
      if (count === 0) break;
    }
  }
  const plural = resent === 1 ? 'delivery goes' : 'deliveries go';
  return { text: `${resent} ${plural} out again.`, json: { resent, ...range } };
}

/** Every account and environment that the options leave. */
async function scopesOf(desk: Desk, options: WebhookOptions): Promise<readonly Scope[]> {
  const accounts =
    options.account === undefined
      ? await desk.store.accounts.list()
      : [await accountOf(desk, options.account)];
  const environments = options.environment ? [options.environment] : (['live', 'test'] as const);
  return accounts.flatMap(({ id }) =>
    environments.map((environment) => ({ accountId: id, environment })),
  );
}

interface SecretOptions {
  readonly account?: string;
  readonly environment: Environment;
  readonly show?: boolean;
}

/** Adds `admin secret`. */
export function addSecretCommands(root: Command, console: Console): void {
  const secret = root.command('secret').description('signing secrets of webhooks');
  const add = (
    name: string,
    description: string,
    news: string,
    work: (scope: Scope, desk: Desk) => Promise<SigningSecrets>,
  ) => {
    const command = secret.command(name).description(description);
    command.option('--account <id>', 'whose; may be left out where there is only one');
    command.requiredOption('--environment <name>', 'live or test', environmentOption);
    command.option('--show', 'show the secret itself');
    atDesk<SecretOptions>(command, console, async (desk, options) => {
      const { id: accountId } = await accountOf(desk, options.account);
      const scope = { accountId, environment: options.environment };
      const secrets = await patiently(() => work(scope, desk));
      return resultOf(news, accountId, { secrets, options });
    });
  };
  add(
    'show',
    'shows the current secret, the prepared one and the previous one',
    '',
    async ({ accountId, environment }, { store, now }) => {
      const secrets = await store.accounts.signingSecrets(accountId, environment, now);
      if (secrets !== undefined) return secrets;
      throw new Error(`The account "${accountId}" has no signing secret`);
    },
  );
  add(
    'prepare',
    'makes a new secret, which signs in addition to the current one',
    'A new secret is prepared. Give it to the receivers, then run "secret activate".',
    (scope, { store, random, now }) =>
      store.accounts.prepareSigningSecret(scope, newSigningSecret(random), now),
  );
  add(
    'activate',
    'makes the prepared secret the current one; the old one signs for 24 h',
    'The prepared secret is the current one.',
    (scope, { store, now }) => store.accounts.activateSigningSecret(scope, now),
  );
  add(
    'drop-prepared',
    'ends the prepared secret',
    'There is no prepared secret now.',
    (scope, { store, now }) => store.accounts.dropSigningSecret(scope, 'prepared', now),
  );
  add(
    'drop-previous',
    'ends the previous secret before its 24 h are over',
    'There is no previous secret now.',
    (scope, { store, now }) => store.accounts.dropSigningSecret(scope, 'previous', now),
  );
}

function resultOf(
  news: string,
  accountId: string,
  { secrets, options }: { secrets: SigningSecrets; options: SecretOptions },
): Result {
  const shown = (secret: string | null) =>
    secret === null || options.show ? secret : masked(secret);
  const json = {
    accountId,
    environment: options.environment,
    signingSecret: shown(secrets.current),
    preparedSecret: shown(secrets.prepared),
    previousSecret: shown(secrets.previous),
    previousValidUntil: secrets.previousUntil,
  };
  const lines = [
    news,
    `signing secret (${options.environment})  ${json.signingSecret}`,
    json.preparedSecret === null ? '' : `prepared  ${json.preparedSecret}`,
    json.previousSecret === null
      ? ''
      : `previous, until ${secrets.previousUntil?.toISOString()}  ${json.previousSecret}`,
    options.show ? '' : 'To see it: npm run admin -- secret show --environment … --show',
  ];
  return { text: lines.filter((line) => line !== '').join('\n'), json };
}

/** Enough to tell two secrets apart. */
function masked(secret: string): string {
  return `whsec_…${secret.slice(-4)}`;
}

/** Adds `admin forget-secrets`. */
export function addForgetCommand(root: Command, console: Console): void {
  const forget = root
    .command('forget-secrets')
    .description(
      'empties passwords and headers of trunks, calendars, tools, MCP servers and SMS gateways that no key opens, after secrets.key or SECRETS_KEY was lost',
    );
  showing(forget, console, () => forgetSecrets(console));
}

async function forgetSecrets(console: Console): Promise<Result> {
  const config = console.config();
  const file = existingDatabaseFile(config);
  const { database } = await openDatabase({ file, mayMigrate: false });
  try {
    const box = openBox(file, config.SECRETS_KEY);
    const forgotten = await patiently(() => sealAgain(database, box, { forget: true }));
    const text =
      forgotten.length === 0
        ? 'Nothing to forget: every secret can be opened.'
        : `Forgotten, to be set again: ${forgotten.join(', ')}.`;
    return { text, json: { forgotten } };
  } finally {
    database.close();
  }
}
