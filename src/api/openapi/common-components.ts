/** What every operation has in common, for the documentation: answer headers, and the idempotency key of POST. */

interface HeaderDocs {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer'; readonly example?: string | number };
}

/** Answer headers by their names. */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'Identifies the request, also in errors and in the log.',
    schema: { type: 'string', example: 'req_0VbZOZK8iLGcXSKvcmQMdaX5' },
  },
  'X-API-Version': {
    description: 'The date of the version that answers.',
    schema: { type: 'string', example: '2026-11-21' },
  },
  'X-RateLimit-Limit': {
    description: 'Requests that the hour allows.',
    schema: { type: 'integer', example: 1000 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests that are left in the hour.',
    schema: { type: 'integer', example: 999 },
  },
  'X-RateLimit-Reset': {
    description: 'When the next hour begins, in Unix seconds.',
    schema: { type: 'integer', example: 1795269600 },
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', example: 60 },
  },
  Location: {
    description: 'Path of the resource that was made.',
    schema: { type: 'string', example: '/api/agents/agent_0VbZOZK8iLGcXSKvcmQMdaX5' },
  },
  ETag: {
    description: 'Names this version of the resource, for `If-Match`.',
    schema: { type: 'string', example: '"2026-11-21T08:00:00.000Z"' },
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the answer that the same `X-Idempotency-Key` got before.',
    schema: { type: 'string', example: 'true' },
  },
} as const satisfies Record<string, HeaderDocs>;

type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** @see draft-ietf-httpapi-idempotency-key-header-07 */
export const IDEMPOTENCY_KEY = {
  name: 'X-Idempotency-Key',
  in: 'header',
  required: false,
  description: [
    'Makes the request safe to repeat: 1 to 255 visible ASCII characters, best a UUID of version 4.',
    'For 24 hours the same key and the same body (equal as JSON) get the answer of the first request, with `Idempotent-Replayed: true`; another body gets 422.',
    'Keys count for each account, environment, method and path. Answers with 400, 401, 429 and 5xx are not kept.',
    'A request that finds the first one still running gets 409 with `Retry-After`. Effect, key and answer are saved in one step.',
  ].join(' '),
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  example: '2f1b9a4e-3a52-4d5b-9f57-5a6e0d3b8c11',
} as const;

/** @see RFC 9110 section 13.1.1 */
export const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `ETag` of the version that the change was made from. 412 when the resource was changed meanwhile; without the header the last change wins.',
  schema: { type: 'string' },
  example: '"2026-11-21T08:00:00.000Z"',
} as const;

/** Documents that an operation takes `If-Match`. */
export const TAKES_IF_MATCH = {
  parameters: [{ $ref: '#/components/parameters/IfMatch' }],
};

/** The headers of an answer: those that every one has, and what its status adds. */
export function headerRefs(method: string, status: string) {
  const always: readonly AnswerHeader[] = [
    'X-Request-Id',
    'X-API-Version',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ];
  const names = [...always, ...headersOf(method, status)];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function headersOf(method: string, status: string): readonly AnswerHeader[] {
  if (status === '429' || status === '503') return ['Retry-After'];
  if (method !== 'post' || ['400', '401', '500'].includes(status)) return [];
  return status === '201' ? ['Location', 'Idempotent-Replayed'] : ['Idempotent-Replayed'];
}

/** Groups of operations, in the order in which a newcomer needs them. */
export const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Agents', description: 'Voice agents: who answers, with which words and which tools.' },
  { name: 'Knowledge', description: 'Documents that agents answer from.' },
  { name: 'Tools', description: 'HTTP requests of your own that agents may make during calls.' },
  { name: 'SMS', description: 'Gateways of the messages that agents send during calls.' },
  { name: 'Calendars', description: 'Where agents book appointments, and what they booked.' },
  { name: 'Voices', description: 'The voices that agents can be given, and how they sound.' },
  { name: 'Calls', description: 'Calls, past and present, with transcripts and recordings.' },
  { name: 'Campaigns', description: 'Calls to a list of numbers, at a pace.' },
  { name: 'Sandbox', description: 'Simulated callers, for test keys.' },
  { name: 'Analytics', description: 'What calls add up to.' },
  { name: 'Webhooks', description: 'Where events are sent, and how that went.' },
  { name: 'Events', description: 'The ledger of all events of the last 30 days.' },
  { name: 'Trunks', description: 'The ways that calls come and go by, and whose the numbers are.' },
  { name: 'Models', description: 'What can be downloaded to hear, speak and think with.' },
  { name: 'Audit log', description: 'Who changed what, and who signed in to the dashboard.' },
  { name: 'Logs', description: 'The newest requests, and what the server has warned of.' },
  { name: 'Privacy', description: 'Erasing what was kept of a person.' },
  { name: 'Keys', description: 'API keys and what each may do.' },
  { name: 'Account', description: 'The account, its plan and its signing secret.' },
];
