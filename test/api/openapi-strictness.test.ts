/** The document and the server, on the same bodies: what one refuses, the other refuses. */
import { expect, test } from 'vitest';
import { readDescription } from '../support/api/api-description.ts';
import { bodyOf, keyOf, openApiWorld, pathOf } from '../support/api/api-world.ts';
import { faultsOf } from '../support/api/json-schema.ts';
import { operationsOf } from '../support/api/openapi-description.ts';

const DESCRIPTION = await readDescription();

const OPERATIONS = operationsOf(DESCRIPTION);

const TARGET = { label: 'sales', number: '+390612345678' };

const WORD = { written: 'Nguyen', spoken: 'nwin' };

const HOOK = 'https://example.com/hook';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that are put in the place of a good body's; what is undefined is left out of it. */
const REFUSED: readonly (readonly [operationId: string, fields: Fields])[] = [
  ['createAgent', { name: undefined }],
  ['createAgent', { name: '' }],
  ['createAgent', { name: ' \t' }],
  ['createAgent', { name: 'x'.repeat(121) }],
  ['createAgent', { greeting: 'a\0b' }],
  ['createAgent', { greeting: ' ' }],
  ['createAgent', { systemPrompt: '\n' }],
  ['createAgent', { voice: '--help' }],
  ['createAgent', { language: 'en_US' }],
  ['createAgent', { language: '' }],
  ['createAgent', { phoneNumber: null }],
  ['createAgent', { tools: ['end_call', 'end_call'] }],
  ['createAgent', { tools: ['Fly!'] }],
  ['createAgent', { settings: { maxDurationSeconds: 9 } }],
  ['createAgent', { settings: { silenceTimeoutSeconds: 2.5 } }],
  ['createAgent', { settings: { transferTargets: [TARGET, TARGET] } }],
  ['createAgent', { settings: { pronunciations: [WORD, WORD] } }],
  ['createAgent', { settings: { pronunciations: [{ ...WORD, written: ' a' }] } }],
  ['createAgent', { status: 'active' }],
  ['updateAgent', { name: undefined }],
  ['updateAgent', { status: 'deleted' }],
  ['createWebhookEndpoint', { events: [] }],
  ['createWebhookEndpoint', { events: ['call.ended', 'call.ended'] }],
  ['createWebhookEndpoint', { events: ['webhook.test'] }],
  ['createWebhookEndpoint', { url: 'ftp://example.com/' }],
  ['createWebhookEndpoint', { url: 'https:hook' }],
  ['createWebhookEndpoint', { url: 'https://example.com/a b' }],
  ['createWebhookEndpoint', { description: 'a\0b' }],
  ['updateWebhookEndpoint', { url: undefined }],
  ['updateWebhookEndpoint', { status: 'paused' }],
  ['createKey', { scopes: ['calls:read', 'calls:read'] }],
  ['createKey', { scopes: ['calls:fly'] }],
  ['createKey', { name: 'a\0b' }],
  ['updateAccount', { name: undefined }],
  ['updateAccount', { allowedCountries: ['IT', 'IT'] }],
  ['updateAccount', { allowedCountries: ['XX'] }],
  ['updateAccount', { allowedCountries: ['it'] }],
  ['updateAccount', { transferTargets: [TARGET, TARGET] }],
  ['updateAccount', { retention: { callsDays: 0 } }],
  ['startOutboundCall', { to: undefined }],
  ['startOutboundCall', { metadata: [] }],
  ['startOutboundCall', { metadata: Object.fromEntries([...Array(51)].map((_, i) => [i, i])) }],
  ['startOutboundCall', { overrides: { greeting: ' ' } }],
  ['startOutboundCall', { overrides: { language: 'en_US' } }],
  ['createSandboxInboundCall', { scenario: 'dance' }],
  ['createSandboxInboundCall', { scenario: '7' }],
  ['transferCall', { mode: 'hot' }],
];

const TAKEN: readonly (readonly [operationId: string, fields: Fields])[] = [
  ['createAgent', { name: ' a ' }],
  ['createAgent', { greeting: 'Good\nday' }],
  ['createAgent', { language: 'en-Latn-GB' }],
  ['createAgent', { tools: ['end_call', 'transfer_call'] }],
  ['createAgent', { settings: { transferTargets: [TARGET, { ...TARGET, label: 'support' }] } }],
  ['createWebhookEndpoint', { url: 'HTTPS://example.com' }],
  ['createWebhookEndpoint', { url: `${HOOK}?a=b@c#d`, description: '' }],
  ['updateWebhookEndpoint', { url: undefined, status: 'active' }],
  ['createKey', { scopes: ['calls:read', 'agents:read'] }],
  ['updateAccount', { allowedCountries: ['IT', 'FR'] }],
  ['updateAccount', { allowedCountries: null }],
  ['startOutboundCall', { metadata: Object.fromEntries([...Array(50)].map((_, i) => [i, i])) }],
  ['createSandboxInboundCall', { scenario: '07' }],
  ['createSandboxInboundCall', { scenario: 'hangup' }],
];

/** Whether each lets the body through. The server may still refuse what it says, with another status than 400. */
async function verdicts(operationId: string, fields: Fields) {
  const operation = OPERATIONS.find(({ docs }) => docs.operationId === operationId);
  if (operation?.body === undefined) throw new RangeError(`"${operationId}" takes no body`);
  const { api, ids } = await openApiWorld();
  const body = { ...bodyOf(operation, DESCRIPTION, ids), ...fields };
  const { status } = await api.request(operation.method, pathOf(operation, ids), {
    key: keyOf(operation),
    body,
  });
  const sent: unknown = JSON.parse(JSON.stringify(body));
  const isDocumented = faultsOf(sent, operation.body, DESCRIPTION).length === 0;
  return { server: status !== 400, document: isDocumented };
}

test.each(REFUSED)('%s with %j is refused by the document and the server', async (id, fields) => {
  expect(await verdicts(id, fields)).toEqual({ server: false, document: false });
});

test.each(TAKEN)('%s with %j is taken by the document and the server', async (id, fields) => {
  expect(await verdicts(id, fields)).toEqual({ server: true, document: true });
});
