/** `POST /dashboard/phone`: a ticket for one connection that may call one agent from the browser. */
import { z } from 'zod';
import type { ApiApp, ApiContext, ApiDeps } from '../api/api-env.ts';
import { BROWSER_DOMAIN } from '../domain/call/live-sound.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Dashboard } from './dashboard.ts';
import { bodyOf, changingSessionOf } from './dashboard-requests.ts';
import { PHONE_PATH } from './phone-sockets.ts';

const id = z.string().max(100);
const phoneSchema = z.strictObject({
  accountId: id,
  environment: z.enum(['live', 'test']),
  agentId: id,
});

export function addPhoneRoutes(api: ApiApp, deps: ApiDeps, { sessions, tickets }: Dashboard): void {
  api.post('/dashboard/phone', async (context) => {
    const { hash: sessionHash } = await changingSessionOf(context, sessions);
    const { agentId, ...scope } = bodyOf(context, phoneSchema);
    if ((await deps.agents.find(scope, agentId)) === undefined) {
      throw new ServiceError(
        'AGENT_NOT_FOUND',
        'Cannot call the agent: the account has no such agent in this environment',
      );
    }
    const { text, expiresAt } = tickets.issue({ scope, agentId, sessionHash });
    const issued = {
      ticket: text,
      expiresAt: expiresAt.toISOString(),
      url: `${socketBaseOf(context, deps.publicUrl)}${PHONE_PATH}?ticket=${text}`,
      uri: `sip:${agentId}@${BROWSER_DOMAIN}`,
      domain: BROWSER_DOMAIN,
    };
    return context.json(issued, 200);
  });
}

/** The page's own origin as a WebSocket's; below PUBLIC_URL's path only where the page came by PUBLIC_URL. */
function socketBaseOf(context: ApiContext, publicUrl: string): string {
  const origin = context.req.header('origin');
  const isPublic = origin === undefined || origin === new URL(publicUrl).origin;
  return (isPublic ? publicUrl : origin).replace(/^http/, 'ws');
}
