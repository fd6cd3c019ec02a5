/** Every operation of the interface once, in an order in which each has what it needs; what is made is removed at the end. */
import type { Invocation } from './driver.ts';

/** What earlier steps have made, by name. */
export type Made = Readonly<Record<string, string>>;

export interface WalkStep {
  readonly operation: string;
  /** A key of the sandbox; of the live environment unless given. */
  readonly isSandbox?: boolean;
  readonly with?: (made: Made) => Omit<Invocation, 'operation'>;
  /** Fields of the answer that later steps need, by the names they have there. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** The error, where no server in a test can do it. */
  readonly kind?: string;
  /** Asks again until it holds, for what takes its time. */
  readonly until?: (value: Readonly<Record<string, unknown>>) => boolean;
}

const NUMBER = '+12025550177';

const at = (...path: readonly (string | number)[]) => ({ path });

const AGENT = {
  ...{ name: 'Reception', greeting: 'Hello.' },
  systemPrompt: 'You answer the telephone of a dentist.',
};

const ACCOUNT: readonly WalkStep[] = [
  { operation: 'account.get', keeps: { accountId: 'id' } },
  { operation: 'account.update', with: () => ({ body: { name: 'Umbrella' } }) },
  { operation: 'keys.create', with: () => ({ body: { name: 'spare' } }), keeps: { keyId: 'id' } },
  { operation: 'keys.list' },
  { operation: 'keys.revoke', with: ({ keyId = '' }) => at(keyId) },
  { operation: 'signingSecret.get' },
  { operation: 'signingSecret.prepare' },
  { operation: 'signingSecret.dropPrepared' },
  { operation: 'signingSecret.prepare' },
  { operation: 'signingSecret.activate' },
  { operation: 'signingSecret.dropPrevious' },
];

const AGENTS: readonly WalkStep[] = [
  {
    operation: 'agents.create',
    with: () => ({ body: { ...AGENT, phoneNumber: '+12025550178' } }),
    keeps: { agentId: 'id' },
  },
  { operation: 'agents.list', with: () => ({ query: { status: 'active', limit: 5 } }) },
  {
    operation: 'agents.get',
    with: ({ agentId = '' }) => at(agentId),
    keeps: { updatedAt: 'updatedAt' },
  },
  {
    operation: 'agents.update',
    with: ({ agentId = '', updatedAt }) => ({
      ...at(agentId),
      body: { greeting: 'Good morning.' },
      options: { ifMatch: `"${updatedAt}"` },
    }),
  },
  {
    operation: 'agents.update',
    with: ({ agentId = '', updatedAt }) => ({
      ...at(agentId),
      body: { greeting: 'Good evening.' },
      options: { ifMatch: `"${updatedAt}"` },
    }),
    kind: 'PreconditionFailed',
  },
  {
    operation: 'agents.chat',
    with: ({ agentId = '' }) => ({
      ...at(agentId),
      body: { messages: [{ role: 'user', text: 'Hello?' }] },
    }),
  },
  { operation: 'agents.listVersions', with: ({ agentId = '' }) => at(agentId) },
  { operation: 'agents.restoreVersion', with: ({ agentId = '' }) => at(agentId, 1) },
  {
    operation: 'agents.saveDraft',
    with: ({ agentId = '' }) => ({ ...at(agentId), body: { greeting: 'Good night.' } }),
  },
  { operation: 'agents.getDraft', with: ({ agentId = '' }) => at(agentId) },
  { operation: 'agents.publishDraft', with: ({ agentId = '' }) => at(agentId) },
  { operation: 'agents.deleteDraft', with: ({ agentId = '' }) => at(agentId), kind: 'NotFound' },
  {
    operation: 'knowledge.add',
    with: ({ agentId = '' }) => ({
      ...at(agentId),
      body: { name: 'Hours', text: 'We open at nine.' },
    }),
    keeps: { documentId: 'id' },
  },
  { operation: 'knowledge.list', with: ({ agentId = '' }) => at(agentId) },
  {
    operation: 'knowledge.get',
    with: ({ agentId = '', documentId = '' }) => at(agentId, documentId),
  },
  {
    operation: 'knowledge.delete',
    with: ({ agentId = '', documentId = '' }) => at(agentId, documentId),
  },
  { operation: 'agents.freePhoneNumber', with: ({ agentId = '' }) => at(agentId) },
  { operation: 'agents.delete', with: ({ agentId = '' }) => at(agentId) },
  { operation: 'agents.get', with: ({ agentId = '' }) => at(agentId), kind: 'NotFound' },
  { operation: 'voices.list', with: () => ({ query: { language: 'en' } }) },
  { operation: 'languageModels.get' },
  { operation: 'voices.preview', with: () => at('en-US-JennyNeural') },
  { operation: 'analytics.get', with: () => ({ query: { period: 'today' } }) },
  { operation: 'analytics.details', with: () => ({ query: { timeZone: 'Europe/Rome' } }) },
];

/** Create, list, get, update, test and delete, for resources that have a name. */
function named(
  resource: string,
  name: string,
  body: (made: Made) => object,
  patch: object,
  others: readonly WalkStep[] = [],
): readonly WalkStep[] {
  return [
    { operation: `${resource}.create`, with: (made) => ({ body: { name, ...body(made) } }) },
    { operation: `${resource}.list` },
    { operation: `${resource}.get`, with: () => at(name) },
    { operation: `${resource}.update`, with: () => ({ ...at(name), body: patch }) },
    ...others,
    { operation: `${resource}.delete`, with: () => at(name) },
  ];
}

const TOOLS: readonly WalkStep[] = [
  ...named(
    'tools',
    'find_order',
    ({ receiverUrl }) => ({
      ...{ description: 'Looks up an order.', parameters: { type: 'object' } },
      ...{ method: 'GET', url: receiverUrl },
    }),
    { description: 'Finds an order.' },
    [{ operation: 'tools.test', with: () => ({ ...at('find_order'), body: { arguments: {} } }) }],
  ),
  ...named(
    'mcpServers',
    'shop',
    ({ receiverUrl }) => ({ url: receiverUrl, allowedTools: [] }),
    { allowedTools: ['find_order'] },
    [{ operation: 'mcpServers.test', with: () => at('shop') }],
  ),
  ...named(
    'smsGateways',
    'texts',
    ({ receiverUrl }) => ({ preset: 'webhook', from: 'Offhook', url: receiverUrl }),
    { from: 'Reception' },
  ),
  { operation: 'smsOptOuts.add', with: () => at(NUMBER) },
  { operation: 'smsOptOuts.list' },
  { operation: 'smsOptOuts.delete', with: () => at(NUMBER) },
  ...named(
    'calendars',
    'practice',
    () => ({ kind: 'builtin', timeZone: 'Europe/Rome' }),
    { slotMinutes: 30 },
    [
      { operation: 'calendars.listAppointments', with: () => at('practice') },
      { operation: 'calendars.renewFeed', with: () => at('practice') },
    ],
  ),
];

const TRUNKS: readonly WalkStep[] = [
  ...named(
    'trunks',
    'carrier',
    // Nothing listens there, which TCP says at once.
    () => ({ proxy: '127.0.0.1:9', transport: 'tcp', register: false, numbers: [NUMBER] }),
    { maxCalls: 2 },
    [
      { operation: 'trunks.check', with: () => at('carrier') },
      {
        operation: 'phoneNumbers.assign',
        with: ({ accountId }) => ({ ...at(NUMBER), body: { accountId } }),
      },
      { operation: 'phoneNumbers.list' },
      { operation: 'phoneNumbers.unassign', with: () => at(NUMBER) },
    ],
  ),
];

const WEBHOOKS: readonly WalkStep[] = [
  {
    operation: 'webhookEndpoints.create',
    with: ({ receiverUrl }) => ({ body: { url: receiverUrl, events: ['call.ended'] } }),
    keeps: { endpointId: 'id' },
  },
  { operation: 'webhookEndpoints.list' },
  { operation: 'webhookEndpoints.get', with: ({ endpointId = '' }) => at(endpointId) },
  {
    operation: 'webhookEndpoints.update',
    with: ({ endpointId = '' }) => ({ ...at(endpointId), body: { description: 'ours' } }),
  },
  {
    operation: 'webhookEndpoints.test',
    with: ({ endpointId = '' }) => at(endpointId),
    keeps: { deliveryId: 'deliveryId' },
  },
  { operation: 'webhookDeliveries.list', with: ({ endpointId }) => ({ query: { endpointId } }) },
  {
    operation: 'webhookDeliveries.get',
    with: ({ deliveryId = '' }) => at(deliveryId),
    until: ({ status }) => status === 'succeeded',
  },
  { operation: 'webhookDeliveries.resend', with: ({ deliveryId = '' }) => at(deliveryId) },
  {
    operation: 'webhookDeliveries.resendRange',
    with: () => ({ body: { from: '2026-01-01', to: '2026-01-02' } }),
  },
  { operation: 'webhookEndpoints.delete', with: ({ endpointId = '' }) => at(endpointId) },
];

const OF_CAMPAIGN = ({ campaignId = '' }: Made) => at(campaignId);

const OF_CALL = ({ callId = '' }: Made) => at(callId);

const CALLS: readonly WalkStep[] = [
  {
    operation: 'agents.create',
    with: () => ({
      body: { ...AGENT, phoneNumber: '+12025550179', settings: { silenceTimeoutSeconds: 120 } },
    }),
    keeps: { callee: 'id' },
  },
  {
    operation: 'sandbox.startInboundCall',
    // Scenario 03: the caller stays silent, so that the call goes on until it is transferred.
    with: ({ callee }) => ({ body: { agentId: callee, from: '+12025550103' } }),
    keeps: { callId: 'callId' },
  },
  {
    operation: 'calls.start',
    with: ({ callee }) => ({ body: { agentId: callee, to: '+12025550103' } }),
    keeps: { secondId: 'callId' },
  },
  { operation: 'calls.watch', with: ({ callId }) => ({ query: { callId, levels: true } }) },
  { operation: 'calls.hangUp', with: ({ secondId = '' }) => at(secondId) },
  {
    operation: 'campaigns.create',
    with: ({ callee }) => ({
      body: {
        ...{ name: 'Recall', agentId: callee, csv: `to,customer\n${NUMBER},c-1029\n` },
        notBefore: new Date(Date.now() + 86_400_000).toISOString(),
      },
    }),
    keeps: { campaignId: 'id' },
  },
  { operation: 'campaigns.list', with: () => ({ query: { status: 'running' } }) },
  { operation: 'campaigns.pause', with: OF_CAMPAIGN },
  { operation: 'campaigns.resume', with: OF_CAMPAIGN },
  { operation: 'campaigns.delete', with: OF_CAMPAIGN, kind: 'Conflict' },
  { operation: 'campaigns.cancel', with: OF_CAMPAIGN },
  { operation: 'campaigns.get', with: OF_CAMPAIGN },
  {
    operation: 'campaigns.listContacts',
    with: (made) => ({ ...OF_CAMPAIGN(made), query: { state: 'cancelled' } }),
  },
  { operation: 'campaigns.delete', with: OF_CAMPAIGN },
  { operation: 'calls.get', with: OF_CALL, until: ({ status }) => status === 'in_progress' },
  // A simulated call has nothing to hear.
  { operation: 'calls.listen', with: OF_CALL, kind: 'Conflict' },
  { operation: 'calls.transfer', with: (made) => ({ ...OF_CALL(made), body: { to: NUMBER } }) },
  { operation: 'calls.get', with: OF_CALL, until: isOver },
  { operation: 'calls.update', with: (made) => ({ ...OF_CALL(made), body: { tags: ['vip'] } }) },
  { operation: 'calls.list', with: ({ callee }) => ({ query: { agentId: callee } }) },
  { operation: 'calls.listEvents', with: OF_CALL },
  { operation: 'calls.getQuality', with: OF_CALL },
  { operation: 'calls.getSipLadder', with: OF_CALL },
  { operation: 'calls.downloadRecording', with: OF_CALL },
  {
    operation: 'calls.getRecordingPeaks',
    with: (made) => ({ ...OF_CALL(made), query: { points: 10 } }),
  },
  { operation: 'events.list', with: ({ callId }) => ({ query: { callId } }) },
  { operation: 'privacy.erase', with: () => ({ body: { phoneNumber: NUMBER } }) },
  { operation: 'calls.delete', with: OF_CALL },
  { operation: 'calls.get', with: OF_CALL, kind: 'NotFound' },
  { operation: 'calls.get', with: ({ secondId = '' }) => at(secondId), until: isOver },
  { operation: 'agents.delete', with: ({ callee = '' }) => at(callee) },
];

function isOver({ endedAt }: Readonly<Record<string, unknown>>): boolean {
  return endedAt !== null;
}

export const WALK: readonly WalkStep[] = [
  ...ACCOUNT,
  ...AGENTS,
  ...TOOLS,
  ...TRUNKS,
  ...WEBHOOKS,
  { operation: 'auditLog.list', with: () => ({ query: { limit: 5 } }) },
  { operation: 'logs.listRequests', with: () => ({ query: { status: '2xx', limit: 5 } }) },
  { operation: 'logs.listServer', with: () => ({ query: { level: 'error' } }) },
  { operation: 'models.get' },
  {
    operation: 'models.startDownload',
    with: () => ({ body: { modelId: 'no-such-model' } }),
    kind: 'Unprocessable',
  },
  { operation: 'models.getDownload', with: () => at('dl_none'), kind: 'NotFound' },
  { operation: 'models.cancelDownload', with: () => at('dl_none'), kind: 'NotFound' },
  ...CALLS.map((step) => ({ ...step, isSandbox: true })),
];
