/** `/dashboard/…` of a session: what it is, the keys that the page asks the API with, its end, and a new password. */
import { z } from 'zod';
import type { ApiApp, ApiDeps } from '../api/api-env.ts';
import { noBody } from '../api/http/request-body.ts';
import { replacePassword } from '../domain/account/user-changes.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Dashboard } from './dashboard.ts';
import { bodyOf, changingSessionOf, sessionOf } from './dashboard-requests.ts';
import { chosenPassword, cookieFor, isPasswordOf, sessionView, shownPassword } from './sign-in.ts';

const changeSchema = z.strictObject({ current: shownPassword, next: chosenPassword });

const keySchema = z.strictObject({
  accountId: z.string().max(100),
  environment: z.enum(['live', 'test']),
});

export function addSessionRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  const { sessions, keys } = dashboard;

  api.get('/dashboard/session', async (context) =>
    context.json(await sessionView(await sessionOf(context, sessions), deps), 200),
  );

  api.post('/dashboard/key', async (context) => {
    const { hash } = await changingSessionOf(context, sessions);
    const scope = bodyOf(context, keySchema);
    if ((await deps.accounts.find(scope.accountId)) === undefined) {
      throw new ServiceError('NOT_FOUND', 'Cannot make a key: there is no such account');
    }
    const { keyText, expiresAt } = keys.make(hash, scope);
    return context.json({ key: keyText, expiresAt: expiresAt.toISOString() }, 200);
  });

  api.post('/dashboard/logout', noBody, async (context) => {
    sessions.end((await changingSessionOf(context, sessions)).hash);
    context.header('Set-Cookie', cookieFor('', deps.publicUrl, 0), { append: true });
    return context.body(null, 204);
  });

  api.post('/dashboard/password', async (context) => {
    const { hash, user } = await changingSessionOf(context, sessions);
    const { current, next } = bodyOf(context, changeSchema);
    // Not 401: the page would take the session for over.
    const shown = { user, name: user.name, password: current };
    if (!(await isPasswordOf(context, { dashboard, deps }, shown))) {
      throw new ServiceError('FORBIDDEN', 'Cannot change the password: the current one is wrong');
    }
    const record = await dashboard.passwords.record(next);
    const known = user.password ?? '';
    const changed = await deps.transaction(({ users }) =>
      replacePassword(user.id, record, { users, known }),
    );
    if (changed === undefined) {
      throw new ServiceError('CONFLICT', 'Cannot change the password: it has just been changed');
    }
    sessions.moveTo(hash, changed);
    deps.log.info({ requestId: context.get('requestId') }, 'dashboard: password changed');
    return context.body(null, 204);
  });
}
