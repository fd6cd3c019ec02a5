/** The interface with one of everything, for tests that ask every operation the same question. */

import { buildAgent } from '../store/build-agent.ts';
import { buildCall } from '../store/build-call.ts';
import {
  type Description,
  followed,
  type JsonSchema,
  type Operation,
} from './openapi-description.ts';
import { sampleOf } from './sample-json.ts';
import { addKey, openTestApi, type TestApi } from './test-api.ts';

/** Of the account that everything belongs to. */
export const ADMIN_KEY = `svc_live_${'A'.repeat(32)}`;
/** Of its sandbox. */
export const SANDBOX_ADMIN_KEY = `svc_test_${'B'.repeat(32)}`;
/** Of another account. */
export const FOREIGN_ADMIN_KEY = `svc_live_${'C'.repeat(32)}`;
export const SCOPELESS_KEY = `svc_live_${'D'.repeat(32)}`;
export const REVOKED_KEY = `svc_live_${'E'.repeat(32)}`;
/** The one that operations on keys work on. */
const SPARE_KEY = `svc_live_${'F'.repeat(32)}`;

const LIVE = { accountId: 'acct_main', environment: 'live' } as const;

const SANDBOX_AGENT = 'agent_2';

/** Bodies that no schema can tell alone, by operation. */
const BODIES: Readonly<Record<string, object>> = {
  createSmsGateway: {
    ...{ name: 'sample', preset: 'webhook', from: 'Offhook' },
    url: 'https://sms.example.com/',
  },
  createCampaign: { name: 'sample', agentId: '', contacts: [{ to: '+390612345679' }] },
  startModelDownload: { profile: 'small' },
  resendWebhooks: { from: '2026-11-19', to: '2026-11-20' },
};

export interface ApiWorld {
  readonly api: TestApi;
  /** Of one resource each, by the name of the path parameter, such as `agentId`. */
  readonly ids: Readonly<Record<string, string>>;
}

/** @param deps as `openTestApi` takes them. */
export async function openApiWorld(deps?: Parameters<typeof openTestApi>[0]): Promise<ApiWorld> {
  const api = await openTestApi(deps);
  const scopes = ['admin'] as const;
  await addKey(api.store, ADMIN_KEY, { ...LIVE, scopes });
  await addKey(api.store, SPARE_KEY, { ...LIVE, scopes });
  await addKey(api.store, SANDBOX_ADMIN_KEY, { ...LIVE, environment: 'test', scopes });
  await addKey(api.store, FOREIGN_ADMIN_KEY, { ...LIVE, accountId: 'acct_foreign', scopes });
  await addKey(api.store, SCOPELESS_KEY, { ...LIVE, scopes: [] });
  await addKey(api.store, REVOKED_KEY, { ...LIVE, scopes });
  await api.store.apiKeys.revoke(LIVE, keyId(REVOKED_KEY), new Date(0));
  await api.store.agents.insert(
    buildAgent({ accountId: 'acct_main', phoneNumber: '+390612345678' }),
  );
  const sandboxed = { id: SANDBOX_AGENT, accountId: 'acct_main', environment: 'test' } as const;
  await api.store.agents.insert(buildAgent(sandboxed));
  await api.store.calls.insert(buildCall({ accountId: 'acct_main', status: 'completed' }), []);
  const body = { url: 'https://example.com/', events: ['call.ended'] };
  const options = { key: ADMIN_KEY, body };
  const endpointId = (await api.json('POST', '/api/webhooks/endpoints', options)).body.id;
  const testPath = `/api/webhooks/endpoints/${endpointId}/test`;
  const response = await api.request('POST', testPath, { key: ADMIN_KEY });
  const { deliveryId } = (await response.json()) as { deliveryId: string };
  const trunk = { name: 'spare', settings: { proxy: 'sip.example.com' }, password: null };
  const times = { createdAt: new Date(0), updatedAt: new Date(0) };
  await api.store.storedTrunks.save({ ...trunk, ...times });
  await api.reloadTrunks();
  const keys = { keyId: keyId(SPARE_KEY) };
  const tool = {
    ...{ name: 'spare_tool', description: 'Looks up an order.', parameters: { type: 'object' } },
    ...{ method: 'GET', url: 'https://example.com/' },
  };
  await api.request('POST', '/api/tools', { key: ADMIN_KEY, body: tool });
  const mcpServer = { name: 'spare_server', url: 'https://shop.example.com/mcp', allowedTools: [] };
  await api.request('POST', '/api/mcp-servers', { key: ADMIN_KEY, body: mcpServer });
  const gateway = { name: 'spare', preset: 'webhook', from: 'Offhook', url: tool.url };
  await api.request('POST', '/api/sms-gateways', { key: ADMIN_KEY, body: gateway });
  await api.request('PUT', '/api/sms-opt-outs/+390612345678', { key: ADMIN_KEY });
  const calendar = { name: 'spare', kind: 'builtin', timeZone: 'Europe/Rome' };
  await api.request('POST', '/api/calendars', { key: ADMIN_KEY, body: calendar });
  const draft = { greeting: 'Good evening.' };
  await api.request('PUT', '/api/agents/agent_1/draft', { key: ADMIN_KEY, body: draft });
  const document = { name: 'Opening hours', text: 'We open at nine.' };
  const knowledgePath = '/api/agents/agent_1/knowledge';
  const kept = await api.json('POST', knowledgePath, { key: ADMIN_KEY, body: document });
  const campaign = { name: 'spare', agentId: 'agent_1', contacts: [{ to: '+390612345679' }] };
  const campaigns = '/api/campaigns';
  const { body: made } = await api.json('POST', campaigns, { key: ADMIN_KEY, body: campaign });
  const voiceId = 'en-US-JennyNeural';
  const ids = {
    agentId: 'agent_1',
    callId: 'call_1',
    endpointId,
    deliveryId,
    voiceId,
    toolName: 'spare_tool',
    mcpServerName: 'spare_server',
    smsGatewayName: 'spare',
    calendarName: 'spare',
    documentId: kept.body.id,
    campaignId: made.id,
    ...keys,
    version: '1',
    downloadId: 'dl_1',
    number: '+390612345678',
    trunkName: 'spare',
  };
  return { api, ids };
}

/** A key that may do everything, of the environment that the operation is for. */
export function keyOf(operation: Pick<Operation, 'path'>): string {
  return isOfSandbox(operation) ? SANDBOX_ADMIN_KEY : ADMIN_KEY;
}

/** The resources that the operation's body may name. */
export function idsFor(
  operation: Pick<Operation, 'path'>,
  ids: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return isOfSandbox(operation) ? { ...ids, agentId: SANDBOX_AGENT } : ids;
}

function isOfSandbox({ path }: Pick<Operation, 'path'>): boolean {
  return path.startsWith('/api/sandbox/');
}

/** @throws {Error} naming a parameter that no resource is known for: make one in `openApiWorld`. */
export function pathOf(
  operation: Pick<Operation, 'path'>,
  ids: Readonly<Record<string, string>>,
): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`No resource is known for {${name}}`);
    return id;
  });
}

/** A body that the operation takes; undefined when it takes none. Ids in it are those of the resources there are. */
export function bodyOf(
  operation: Operation,
  description: Description,
  ids: Readonly<Record<string, string>>,
): object | undefined {
  if (operation.body === undefined) return undefined;
  const known = BODIES[operation.docs.operationId ?? ''];
  const sample = known ?? (sampleOf(operation.body, description) as object);
  const names = Object.keys(propertiesOf(operation.body, description));
  const given = Object.entries(idsFor(operation, ids)).filter(
    ([name]) => names.includes(name) && name in sample,
  );
  return { ...sample, ...Object.fromEntries(given) };
}

function propertiesOf(schema: JsonSchema, description: Description): object {
  return followed(schema, description).properties ?? {};
}

function keyId(keyText: string): string {
  return `key_${keyText.slice(-12)}`;
}
