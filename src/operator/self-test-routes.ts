/** `/dashboard/self-test`: starts the self-test, and tells its state and newest report. */
import type { ApiApp } from '../api/api-env.ts';
import { noBody } from '../api/http/request-body.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Dashboard } from './dashboard.ts';
import { changingSessionOf, sessionOf } from './dashboard-requests.ts';

export function addSelfTestRoutes(api: ApiApp, { sessions, selfTest }: Dashboard): void {
  const view = () => {
    const { state, startedAt, report } = selfTest.state;
    return { state, startedAt: startedAt?.toISOString() ?? null, report };
  };

  api.get('/dashboard/self-test', async (context) => {
    await sessionOf(context, sessions);
    return context.json(view(), 200);
  });

  api.post('/dashboard/self-test', noBody, async (context) => {
    await changingSessionOf(context, sessions);
    if (!selfTest.start()) {
      throw new ServiceError('CONFLICT', 'Cannot start the self-test: it is under way');
    }
    return context.json(view(), 202);
  });
}
