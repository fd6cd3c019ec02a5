/** The REST interface: which guards a request passes, and which routes there are. */

import type { ApiDeps } from './api-env.ts';
import { CheckedRoutes } from './http/checked-routes.ts';
import { Dispatcher } from './http/dispatcher.ts';
import { admission } from './http/guards.ts';
import { KeyCache } from './http/key-cache.ts';
import { documentOf } from './openapi/api-document.ts';
import { addAccountRoutes } from './routes/account-routes.ts';
import { addAgentChatRoutes } from './routes/agent-chat-routes.ts';
import { addAgentRoutes } from './routes/agent-routes.ts';
import { addAgentVersionRoutes } from './routes/agent-version-routes.ts';
import { addAnalyticsRoutes } from './routes/analytics-routes.ts';
import { addCallRoutes } from './routes/call-routes.ts';
import { addDeliveryRoutes } from './routes/delivery-routes.ts';
import { addDocsRoutes } from './routes/docs-routes.ts';
import { addErasureRoutes } from './routes/erasure-routes.ts';
import { addEventRoutes } from './routes/event-routes.ts';
import { addHealthRoutes } from './routes/health-routes.ts';
import { addKeyRoutes } from './routes/key-routes.ts';
import { addListeningRoutes } from './routes/listening-routes.ts';
import { addLiveRoutes } from './routes/live-routes.ts';
import { addOpenApiRoutes } from './routes/openapi-routes.ts';
import { addOutboundRoutes } from './routes/outbound-routes.ts';
import { addPeaksRoutes } from './routes/peaks-routes.ts';
import { addQualityRoutes } from './routes/quality-routes.ts';
import { addRecordingRoutes } from './routes/recording-routes.ts';
import { addSandboxRoutes } from './routes/sandbox-routes.ts';
import { addSipTraceRoutes } from './routes/sip-trace-routes.ts';
import { addTransferRoutes } from './routes/transfer-routes.ts';
import { addTrunkRoutes } from './routes/trunk-routes.ts';
import { addVoiceRoutes } from './routes/voice-routes.ts';
import { addWebhookEndpointRoutes } from './routes/webhook-endpoint-routes.ts';

export interface ApiParts extends ApiDeps {
  /** Adds routes that are not part of the customers' interface: the dashboard's. */
  readonly addRoutes?: (api: CheckedRoutes, deps: ApiDeps) => void;
}

/** Puts the interface together. Serve it with `HttpServer`. */
export function createApi({ addRoutes, ...deps }: ApiParts): Dispatcher {
  const api = new CheckedRoutes();
  const keys = new KeyCache(deps);
  api.guard('/api', admission(deps, keys));
  const document = documentOf(api, deps);
  addHealthRoutes(api, deps);
  addOpenApiRoutes(api, document);
  addDocsRoutes(api, document);
  addAgentRoutes(api, deps);
  addAgentVersionRoutes(api, deps);
  addAgentChatRoutes(api, deps);
  addVoiceRoutes(api, deps);
  addAnalyticsRoutes(api, deps);
  addCallRoutes(api, deps);
  addErasureRoutes(api, deps);
  addLiveRoutes(api, deps);
  addListeningRoutes(api, deps);
  addOutboundRoutes(api, deps);
  addTransferRoutes(api, deps);
  addRecordingRoutes(api, deps);
  addPeaksRoutes(api, deps);
  addQualityRoutes(api, deps);
  addWebhookEndpointRoutes(api, deps);
  addDeliveryRoutes(api, deps);
  addEventRoutes(api, deps);
  addAccountRoutes(api, deps);
  addKeyRoutes(api, deps, keys);
  addSandboxRoutes(api, deps);
  addTrunkRoutes(api, deps);
  addSipTraceRoutes(api, deps);
  addRoutes?.(api, deps);
  return new Dispatcher(api, deps);
}
