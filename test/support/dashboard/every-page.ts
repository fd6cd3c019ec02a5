/** Every page of the dashboard, and a server with something to show on each. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, type TestServer } from '../server/server.ts';
import { seedAppointments } from '../store/seed-appointments.ts';
import { seedCalls, seedTalk } from '../store/seed-calls.ts';

/** Addresses behind `#/`; `{agent}`, `{campaign}` and `{endpoint}` stand for ids. */
export const EVERY_PAGE = [
  'overview',
  'live',
  'calls',
  'calls?status=failed',
  'calls/call_seededTalk',
  'campaigns',
  'campaigns/new',
  'campaigns/{campaign}',
  'agents',
  'agents/new',
  'agents/{agent}',
  'tools',
  'tools/+',
  'tools/order_status',
  'knowledge',
  'calendars',
  'calendars/+',
  'calendars/desk',
  'gateways',
  'numbers',
  'trunks',
  'trunks/+',
  'trunks/acme',
  'analytics',
  'webhooks',
  'webhooks/{endpoint}',
  'keys',
  'logs',
  'settings',
  'system',
  'models',
  'users',
  'audit-log',
  'no-such-page',
];

/** Long names, as people give them. */
const NAME = 'Dr. Smith and partners, dental practice, front desk and emergencies';

const TRUNK = {
  name: 'acme',
  proxy: '127.0.0.1:9',
  optionsIntervalSeconds: 0,
  numbers: ['+12025550123', '+12025550124'],
};

const GATEWAY = {
  name: 'own',
  preset: 'webhook',
  from: '+12025550100',
  url: 'http://127.0.0.1:9/send',
};

const TOOL = {
  name: 'order_status',
  description: 'Looks up where an order is. Ask the caller for the order number first.',
  parameters: {
    type: 'object',
    properties: { orderId: { type: 'string' } },
    required: ['orderId'],
  },
  method: 'GET',
  url: 'https://shop.example.com/a/long/path/to/orders/{orderId}',
  headers: [{ name: 'Authorization', value: 'Bearer secret', secret: true }],
};

/** A server whose pages are filled. */
export interface FilledServer {
  readonly server: TestServer;
  /** The page's whole address. */
  urlOf(page: string): string;
}

/** @param environment further settings of the server. */
export async function startFilledServer(
  environment: Readonly<Record<string, string>> = {},
): Promise<FilledServer> {
  const trunks = join(mkdtempSync(join(tmpdir(), 'offhook-pages-')), 'trunks.json');
  writeFileSync(trunks, JSON.stringify([TRUNK]));
  const settings = { SIP_TRUNKS: trunks, WEBHOOK_ALLOW_LOCAL: 'true', ...environment };
  const server = await (await startServer({ environment: settings })).ready();
  const agentId = await server.createAgent({ name: NAME });
  await seedCalls(server, { agentId, count: 3 });
  await seedTalk(server, { agentId, turns: 6 });
  await server.api('POST', '/api/tools', TOOL);
  const shop = { name: 'shop', url: 'http://127.0.0.1:9/mcp', allowedTools: ['find_order'] };
  await server.api('POST', '/api/mcp-servers', shop);
  await seedAppointments(server, 'desk');
  await server.api('POST', '/api/sms-gateways', GATEWAY);
  const endpoint = { url: 'http://127.0.0.1:9/a/long/path/to/hook', events: ['call.ended'] };
  const made = await server.api('POST', '/api/webhooks/endpoints', endpoint);
  await server.api('POST', `/api/webhooks/endpoints/${made.body.id}/test`);
  const campaignId = await createCampaign(server, agentId);
  await server.api('POST', '/api/keys', { name: NAME, scopes: ['calls:read'] });
  return {
    server,
    urlOf: (page) => {
      const ids = { agent: agentId, campaign: campaignId, endpoint: String(made.body.id) };
      const path = Object.entries(ids).reduce(
        (left, [name, id]) => left.replace(`{${name}}`, id),
        page,
      );
      return `${server.baseUrl}/#/${path}`;
    },
  };
}

async function createCampaign(server: TestServer, agentId: string): Promise<string> {
  const contacts = [{ to: '+12025550188', metadata: { name: NAME } }, { to: '+12025550189' }];
  const notBefore = new Date(Date.now() + 86_400_000).toISOString();
  const campaign = { name: NAME, agentId, contacts, notBefore };
  return String((await server.api('POST', '/api/campaigns', campaign)).body.id);
}
