/** `admin webhooks …`: deliveries that failed, and sending again. */
import { type Command, Option } from 'commander';
import type { Environment } from '../domain/account/account.ts';
import type { Scope } from '../domain/agent/agent.ts';
import { EVENTS_KEPT_MS } from '../domain/webhook/service-event.ts';
import type { WebhookDelivery } from '../domain/webhook/webhook-delivery.ts';
import {
  accountOf,
  atDesk,
  type Console,
  type Desk,
  environmentOption,
  instantOption,
  patiently,
  type Result,
  table,
  UsageError,
} from './admin-command.ts';

/** What one look at the database gives. */
const PAGE_SIZE = 100;

/** Deliveries shown at most; a receiver that was down for a day has more than an operator would read. */
const SHOWN_MAX = 1000;

/** Of resends in one transaction; until one takes up fewer. */
const ROUNDS_MAX = 1000;

interface WebhookOptions {
  readonly account?: string;
  readonly environment?: Environment;
  readonly endpoint?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly all?: boolean;
}

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
    const { deliveries } = await desk.store.deliveries.list(scope, {
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
