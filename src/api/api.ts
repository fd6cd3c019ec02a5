/** The REST interface: which guards a request passes, and which routes there are. */

import { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiApp, ApiContext, ApiDeps } from './api-env.ts';
import { authenticate, checkRole } from './http/access.ts';
import { errorHandler, notFound, refuseInvalid } from './http/errors.ts';
import { KeyCache } from './http/key-cache.ts';
import { usePlainMessages } from './http/plain-message.ts';
import { countRequest } from './http/rate-limit.ts';
import { limitBody } from './http/request-body.ts';
import { identity } from './http/request-identity.ts';
import { audit, listRequest } from './http/request-log.ts';
import { addDocument } from './openapi/api-document.ts';
import { addHealthRoutes } from './probes.ts';
import { addAccountRoutes } from './routes/account-routes.ts';
import { addAgentChatRoutes } from './routes/agents/agent-chat-routes.ts';
import { addAgentDraftRoutes } from './routes/agents/agent-draft-routes.ts';
import { addAgentRoutes } from './routes/agents/agent-routes.ts';
import { addAgentVersionRoutes } from './routes/agents/agent-version-routes.ts';
import { addLanguageModelRoutes } from './routes/agents/language-model-routes.ts';
import { addAnalyticsDetailRoutes } from './routes/analytics/analytics-detail-routes.ts';
import { addAnalyticsRoutes } from './routes/analytics/analytics-routes.ts';
import { addCalendarRoutes } from './routes/calendar-routes.ts';
import { addQualityRoutes, addSipTraceRoutes } from './routes/call-diagnostics-routes.ts';
import { addCallRoutes } from './routes/call-routes.ts';
import { addCampaignRoutes } from './routes/campaign-routes.ts';
import { addDeliveryRoutes } from './routes/delivery-routes.ts';
import { addErasureRoutes } from './routes/erasure-routes.ts';
import { addEventRoutes } from './routes/event-routes.ts';
import { addKeyRoutes } from './routes/key-routes.ts';
import { addKnowledgeRoutes, isUpload } from './routes/knowledge-routes.ts';
import { addListeningRoutes } from './routes/listening-routes.ts';
import { addLiveRoutes } from './routes/live-routes.ts';
import { addMcpRoutes } from './routes/mcp-routes.ts';
import { addNumberRoutes } from './routes/number-routes.ts';
import { addLogRoutes } from './routes/operator/log-routes.ts';
import { addModelRoutes } from './routes/operator/model-routes.ts';
import { addOutboundRoutes } from './routes/outbound-routes.ts';
import { addRecordingRoutes } from './routes/recording-routes.ts';
import { addSandboxRoutes } from './routes/sandbox-routes.ts';
import { addSmsCallbackRoutes } from './routes/sms/sms-callback-routes.ts';
import { addSmsRoutes } from './routes/sms/sms-routes.ts';
import { addToolRoutes } from './routes/tool-routes.ts';
import { addTransferRoutes } from './routes/transfer-routes.ts';
import { addTrunkCheckRoutes } from './routes/trunk-check-routes.ts';
import { addTrunkRoutes } from './routes/trunk-routes.ts';
import { addVoiceRoutes } from './routes/voice-routes.ts';
import { addWebhookEndpointRoutes } from './routes/webhook-endpoint-routes.ts';

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
  addWebhookEndpointRoutes(api, deps);
  addDeliveryRoutes(api, deps);
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

/** What every request passes, in this order. */
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
