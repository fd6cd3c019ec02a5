/** `/dashboard/users` and `/dashboard/invites`: who may sign in, as what, and links for those who are to join. */
import { z } from 'zod';
import type { ApiApp, ApiContext, ApiDeps } from '../api/api-env.ts';
import { noBody } from '../api/http/request-body.ts';
import { type Invite, ROLES, type StoredUser } from '../domain/account/user.ts';
import {
  addInvite,
  changeUser,
  isOpenInvite,
  removeUser,
  revokeInvite,
} from '../domain/account/user-changes.ts';
import type { Stores } from '../domain/stores.ts';
import type { Dashboard } from './dashboard.ts';
import { bodyOf, changingSessionOf } from './dashboard-requests.ts';
import { hashOfText, newSecretText } from './secret-text.ts';
import { chosenName } from './sign-in-routes.ts';

const role = z.enum(ROLES);

const inviteSchema = z.strictObject({ role });

const changeSchema = z
  .strictObject({
    name: chosenName.optional(),
    role: role.optional(),
    isDisabled: z.boolean().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'expected one field at least');

/** Reached by admins alone: see the role table. */
export function addUserRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  api.get('/dashboard/users', async (context) => {
    const { users } = dashboard;
    const now = deps.clock.now();
    const invites = (await users.invites()).filter((invite) => isOpenInvite(invite, now));
    const body = { users: (await users.list()).map(userView), invites: invites.map(inviteView) };
    return context.json(body, 200);
  });

  const changing = async (context: ApiContext) => {
    const { user: by } = await changingSessionOf(context, dashboard.sessions);
    return (stores: Stores) => ({ users: stores.users, by, now: deps.clock.now() });
  };

  api.patch('/dashboard/users/:userId', async (context) => {
    const by = await changing(context);
    const change = bodyOf(context, changeSchema);
    const userId = context.req.param('userId');
    const user = await deps.transaction((stores) => changeUser(userId, change, by(stores)));
    return context.json(userView(user), 200);
  });

  api.delete('/dashboard/users/:userId', noBody, async (context) => {
    const by = await changing(context);
    const userId = context.req.param('userId');
    await deps.transaction((stores) => removeUser(userId, by(stores)));
    return context.body(null, 204);
  });

  api.post('/dashboard/invites', async (context) => {
    const by = await changing(context);
    const secret = newSecretText(deps.random);
    const facts = { id: deps.newId('inv'), hash: hashOfText(secret) };
    const draft = { ...facts, ...bodyOf(context, inviteSchema) };
    const invite = await deps.transaction((stores) => addInvite(draft, by(stores)));
    context.set('auditResource', invite.id);
    return context.json({ ...inviteView(invite), url: joinUrl(deps.publicUrl, secret) }, 201);
  });

  api.delete('/dashboard/invites/:inviteId', noBody, async (context) => {
    const by = await changing(context);
    const inviteId = context.req.param('inviteId');
    await deps.transaction((stores) => revokeInvite(inviteId, by(stores)));
    return context.body(null, 204);
  });
}

/** The secret is behind the `#`: browsers send it to no server, and proxies log none of it. */
function joinUrl(publicUrl: string, secret: string): string {
  return `${publicUrl}/#/join?token=${secret}`;
}

function userView(user: StoredUser) {
  const { id, name, role, createdAt, lastSignInAt, disabledAt } = user;
  return { id, name, role, createdAt, lastSignInAt, disabledAt };
}

function inviteView({ id, role, createdBy, createdAt, expiresAt }: Invite) {
  return { id, role, createdBy, createdAt, expiresAt };
}
