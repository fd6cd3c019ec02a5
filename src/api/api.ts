/** The REST interface: which guards a request passes, which routes there are, and their OpenAPI document. */
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { compress } from 'hono/compress';
import { SERVICE_EVENT_KINDS } from '../domain/webhook/service-event.ts';
import type { ApiApp, ApiContext, ApiDeps } from './api-env.ts';
import { authenticate, checkRole, countRequest, KeyCache } from './http/access.ts';
import {
  ANSWER_HEADERS,
  errorCodeTable,
  IDEMPOTENCY_KEY,
  IF_MATCH,
  jsonBody,
  TAGS,
} from './http/describe-route.ts';
import { errorHandler, notFound, refuseInvalid } from './http/errors.ts';
import { usePlainMessages } from './http/plain-message.ts';
import { limitBody } from './http/request-body.ts';
import { API_VERSION, audit, identity, listRequest } from './http/request-identity.ts';
import { addHealthRoutes } from './probes.ts';
import { addAccountRoutes } from './routes/account-routes.ts';
import { addAgentDraftRoutes } from './routes/agents/agent-draft-routes.ts';
import { addAgentRoutes } from './routes/agents/agent-routes.ts';
import { addAgentVersionRoutes } from './routes/agents/agent-version-routes.ts';
import { addAnalyticsDetailRoutes, addAnalyticsRoutes } from './routes/analytics-routes.ts';
import { addCalendarRoutes } from './routes/calendar-routes.ts';
import { addOutboundRoutes, addTransferRoutes } from './routes/call-control-routes.ts';
import { addQualityRoutes, addSipTraceRoutes } from './routes/call-diagnostics-routes.ts';
import { addCallRoutes, addErasureRoutes } from './routes/call-routes.ts';
import { addCampaignRoutes } from './routes/campaign-routes.ts';
import { addEventRoutes, EVENT_BODIES } from './routes/event-routes.ts';
import { addKeyRoutes } from './routes/key-routes.ts';
import { addKnowledgeRoutes, isUpload } from './routes/knowledge-routes.ts';
import { addListeningRoutes } from './routes/listening-routes.ts';
import { addLiveRoutes } from './routes/live-routes.ts';
import { addLogRoutes } from './routes/log-routes.ts';
import { addMcpRoutes } from './routes/mcp-routes.ts';
import { addModelRoutes } from './routes/model-routes.ts';
import { addNumberRoutes } from './routes/number-routes.ts';
import { addRecordingRoutes } from './routes/recording-routes.ts';
import { addAgentChatRoutes, addSandboxRoutes } from './routes/sandbox-routes.ts';
import { addSmsCallbackRoutes, addSmsRoutes } from './routes/sms-routes.ts';
import { addToolRoutes } from './routes/tool-routes.ts';
import { addTrunkCheckRoutes, addTrunkRoutes } from './routes/trunk-routes.ts';
import { addLanguageModelRoutes, addVoiceRoutes } from './routes/voice-and-model-routes.ts';
import { addWebhookRoutes } from './routes/webhook-routes.ts';

const DESCRIPTION = [
  'Voice agents that answer and place telephone calls.',
  'Every request carries `Authorization: Bearer <API_KEY>`. A `svc_live_` key makes real calls; a `svc_test_` key sees and makes only test resources, and its calls are simulated. A key has scopes, such as `agents:read`; without the one that an operation needs the answer is 403.',
  'Errors are `{"error": {code, message, status, requestId}}`, with `details` for each wrong field on 400. Unknown fields and unknown query parameters are refused by name. What belongs to another account or environment is answered like what does not exist.',
  'Lists are `{data, total, limit, offset}`. Timestamps are ISO 8601 in UTC with milliseconds.',
  `Every answer has \`X-Request-Id\` and \`X-API-Version\` (now ${API_VERSION}). Requests are counted in fixed hours, for each account and environment: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\`, and \`X-RateLimit-Reset\` in Unix seconds.`,
  '## Error codes',
  errorCodeTable(),
].join('\n\n');

/** Serves the document, built at the first request, and registers the components that all operations share. Call it before routes are added. */
export function addDocument(api: ApiApp, deps: Pick<ApiDeps, 'version' | 'publicUrl'>): void {
  const { openAPIRegistry: registry } = api;
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `svc_live_…` or `svc_test_…`.',
  });
  registry.registerComponent('parameters', 'IdempotencyKey', { ...IDEMPOTENCY_KEY });
  registry.registerComponent('parameters', 'IfMatch', { ...IF_MATCH });
  for (const [name, docs] of Object.entries(ANSWER_HEADERS)) {
    registry.registerComponent('headers', name, docs);
  }
  addWebhookDocs(registry);
  let text: string | undefined;
  // The longest document that the server sends.
  api.get('/api/openapi.json', compress(), (context) => {
    text ??= JSON.stringify(
      api.getOpenAPI31Document({
        openapi: '3.1.0',
        info: { title: 'Offhook', version: deps.version, description: DESCRIPTION },
        servers: [{ url: deps.publicUrl }],
        tags: [...TAGS],
      }),
    );
    return context.body(text, 200, { 'Content-Type': 'application/json' });
  });
}

const WEBHOOKS_DESCRIPTION = [
  'Sent by HTTP POST to every active endpoint that names the kind. An answer of 2xx within 10 seconds ends it; otherwise',
  'there are four more attempts, after 30 seconds, 2, 10 and 30 minutes. Events may come twice and in any order:',
  '`id` tells them apart, `createdAt` orders them.',
].join(' ');

const WEBHOOK_HEADERS = z.object({
  'X-Service-Signature': z.string().openapi({
    description:
      'HMAC-SHA256, in lowercase hexadecimal, of `X-Service-Timestamp`, a dot and the raw body; the key is the current signing secret.',
  }),
  'X-Service-Timestamp': z.string().openapi({
    description: 'Unix seconds, new for every attempt. Refuse one that is over 5 minutes old.',
  }),
  'webhook-id': z.string().openapi({ description: 'The event id (Standard Webhooks).' }),
  'webhook-timestamp': z.string().openapi({ description: 'As X-Service-Timestamp.' }),
  'webhook-signature': z.string().openapi({
    description:
      'Signatures by Standard Webhooks, separated by a blank: one for each secret, while one is prepared and for 24 h after its activation.',
  }),
});

/** Documents the events as the webhooks of OpenAPI 3.1: what an endpoint receives, with which headers. */
function addWebhookDocs(registry: OpenAPIHono['openAPIRegistry']): void {
  for (const kind of SERVICE_EVENT_KINDS) {
    const { when, schema } = EVENT_BODIES[kind];
    registry.registerWebhook({
      method: 'post',
      path: kind,
      operationId: `on${kind.replaceAll(/(?:^|\.)(\w)/g, (_dot, letter) => letter.toUpperCase())}`,
      tags: ['Webhooks'],
      summary: when,
      description: WEBHOOKS_DESCRIPTION,
      security: [],
      request: { headers: WEBHOOK_HEADERS, body: jsonBody(schema) },
      responses: {
        '2XX': { description: 'The event was received.' },
        default: { description: 'Anything else, a redirect too, is tried again.' },
      },
    });
  }
}

/** Dependencies of the REST interface, and routes to add to it. */
export interface ApiParts extends ApiDeps {
  /** Adds routes that are not part of the customers' interface: the dashboard's. */
  readonly addRoutes?: (api: ApiApp, deps: ApiDeps) => void;
}

/** Composes the application: guards in the order in which requests pass them, then routes. */
export function createApi({ addRoutes, ...deps }: ApiParts): ApiApp {
  usePlainMessages();
  const api: ApiApp = new OpenAPIHono({ defaultHook: refuseInvalid });
  const keys = new KeyCache(deps);
  addGuards(api, deps, keys);
  const onError = errorHandler(deps.log);
  api.onError(onError);
  // Answered here, not thrown: where one middleware alone runs, Hono lets an error past it.
  api.notFound((context) => onError(notFound(context, methodsOf(api, context.req.path)), context));
  addHealthRoutes(api, deps);
  addDocument(api, deps);
  addAgentRoutes(api, deps);
  addAgentVersionRoutes(api, deps);
  addAgentDraftRoutes(api, deps);
  addAgentChatRoutes(api, deps);
  addKnowledgeRoutes(api, deps);
  addToolRoutes(api, deps);
  addMcpRoutes(api, deps);
  addSmsRoutes(api, deps);
  addSmsCallbackRoutes(api, deps);
  addCalendarRoutes(api, deps);
  addVoiceRoutes(api, deps);
  addLanguageModelRoutes(api, deps);
  addAnalyticsRoutes(api, deps);
  addAnalyticsDetailRoutes(api, deps);
  addCallRoutes(api, deps);
  addErasureRoutes(api, deps);
  addLiveRoutes(api, deps);
  addListeningRoutes(api, deps);
  addOutboundRoutes(api, deps);
  addCampaignRoutes(api, deps);
  addTransferRoutes(api, deps);
  addRecordingRoutes(api, deps);
  addQualityRoutes(api, deps);
  addWebhookRoutes(api, deps);
  addEventRoutes(api, deps);
  addAccountRoutes(api, deps);
  addKeyRoutes(api, deps, keys);
  addSandboxRoutes(api, deps);
  addTrunkRoutes(api, deps);
  addTrunkCheckRoutes(api, deps);
  addNumberRoutes(api, deps);
  addSipTraceRoutes(api, deps);
  addLogRoutes(api, deps);
  addModelRoutes(api, deps);
  addRoutes?.(api, deps);
  return api;
}

/** Adds the guards of every request, in the order in which requests pass them. */
function addGuards(api: ApiApp, deps: ApiDeps, keys: KeyCache): void {
  api.use(identity(deps));
  for (const path of ['/api/*', '/dashboard/*']) api.use(path, listRequest(deps), audit(deps));
  api.use('/api/*', async (context, next) => {
    await authenticate(context, keys);
    await countRequest(context, deps);
    const user = context.get('caller')?.user;
    if (user !== undefined) checkRole(context, user);
    return next();
  });
  api.use('/api/*', limitBody(BODY_LIMIT));
}

const BODY_LIMIT = {
  bytesMax: 1024 * 1024,
  message: 'expected 1 MiB at most',
  // A request without a valid key is refused unread; an upload has a limit of its own.
  mayRead: (context: ApiContext) => context.get('caller') !== undefined && !isUpload(context),
};

/** The methods that a path knows, for the `Allow` header. */
function methodsOf(api: ApiApp, path: string): readonly string[] {
  const matched = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].flatMap((method) =>
    api.router
      .match(method, path)[0]
      .map(([[, route]]) => route)
      .filter((route) => route.method === method),
  );
  // A literal path such as `/api/calls/outbound` hides the patterns that match it too.
  const literal = matched.filter((route) => route.path === path);
  const served = new Set((literal.length > 0 ? literal : matched).map(({ method }) => method));
  // RFC 9110, 9.3.2: HEAD is GET without the body.
  return [...served].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
