/** `/dashboard/…` before signing in: the first password, signing in, and joining by an invite. */
import { z } from 'zod';
import type { ApiApp, ApiDeps } from '../api/api-env.ts';
import {
  FIRST_USER_NAME,
  isAdmin,
  isSetUp,
  type Role,
  type StoredUser,
  USER_NAME,
  USER_NAME_CHARS_MAX,
  userNamed,
  userNameKey,
} from '../domain/account/user.ts';
import { addUser, openInvite, replacePassword } from '../domain/account/user-changes.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Stores } from '../domain/stores.ts';
import type { Dashboard } from './dashboard.ts';
import { bodyOf } from './dashboard-requests.ts';
import { hashOfText } from './secret-text.ts';
import {
  chosenPassword,
  guarded,
  guessedBy,
  isPasswordOf,
  type SignInParts,
  shownPassword,
  welcome,
} from './sign-in.ts';

const token = z.string().max(200);

/** A user's name as it is chosen. */
export const chosenName = z
  .string()
  .trim()
  .normalize('NFC')
  .max(USER_NAME_CHARS_MAX)
  .regex(USER_NAME, {
    message: 'expected letters, digits, spaces and . _ @ + -, beginning with a letter or digit',
  });

const setupSchema = z.strictObject({ token, password: chosenPassword });
const loginSchema = z.strictObject({
  name: z.string().max(USER_NAME_CHARS_MAX).optional(),
  password: shownPassword,
});
const joinSchema = z.strictObject({ token, name: chosenName, password: chosenPassword });

export function addSignInRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  const parts = { dashboard, deps };

  api.get('/dashboard/state', async (context) => {
    const users = await dashboard.users.list();
    const state = { isSetUp: isSetUp(users), asksName: users.length > 1, version: deps.version };
    return context.json(state, 200);
  });

  addSetup(api, parts);
  addLogin(api, parts);
  addJoin(api, parts);
}

function addSetup(api: ApiApp, parts: SignInParts): void {
  const { dashboard, deps } = parts;
  const { guard, link, passwords, users } = dashboard;

  api.post('/dashboard/setup', async (context) => {
    const given = bodyOf(context, setupSchema);
    if (!link.isGood(given.token)) {
      throw new ServiceError(
        'UNAUTHORIZED',
        'Cannot set the password: the link is used, old or wrong; the server prints a new one when it starts',
      );
    }
    refuseSecondSetup(await users.list());
    const record = await passwords.record(given.password);
    const user = await deps.transaction((stores) => firstAdmin(stores, parts, record));
    link.close();
    guard.signedIn(guessedBy(context, parts, userNameKey(user.name)));
    deps.log.info({ requestId: context.get('requestId') }, 'dashboard: password set');
    return welcome(context, parts, user);
  });
}

function refuseSecondSetup(users: readonly StoredUser[]): void {
  if (!isSetUp(users)) return;
  throw new ServiceError('CONFLICT', 'Cannot set the password: there is one already');
}

/** The admin whose password was reset, or a new one. */
async function firstAdmin(
  { users }: Stores,
  { deps }: SignInParts,
  password: string,
): Promise<StoredUser> {
  const known = await users.list();
  refuseSecondSetup(known);
  const admin = known.find(isAdmin);
  const kept = admin && (await replacePassword(admin.id, password, { users }));
  return kept ?? addUser(users, newUser(deps, { name: FIRST_USER_NAME, role: 'admin', password }));
}

function newUser(
  { newId, clock }: ApiDeps,
  facts: { readonly name: string; readonly role: Role; readonly password: string },
): StoredUser {
  const dates = { createdAt: clock.now(), lastSignInAt: null, disabledAt: null };
  return { ...facts, ...dates, id: newId('usr'), stamp: 1 };
}

function addLogin(api: ApiApp, parts: SignInParts): void {
  const { users } = parts.dashboard;

  api.post('/dashboard/login', async (context) => {
    const { name = '', password } = bodyOf(context, loginSchema);
    const known = await users.list();
    if (!isSetUp(known)) {
      throw new ServiceError(
        'CONFLICT',
        'Cannot sign in: no password has been set; open the link that the server printed at its start',
      );
    }
    const user = userNamed(known, name === '' ? undefined : name);
    context.set('auditResource', user?.id);
    if (!(await isPasswordOf(context, parts, { user, name, password })) || user === undefined) {
      const what = known.length > 1 ? 'the name or the password' : 'the password';
      throw new ServiceError('UNAUTHORIZED', `Cannot sign in: ${what} is wrong`);
    }
    if (user.disabledAt !== null) {
      throw new ServiceError('FORBIDDEN', 'Cannot sign in: an admin has disabled this user');
    }
    return welcome(context, parts, user);
  });
}

function addJoin(api: ApiApp, parts: SignInParts): void {
  const { dashboard, deps } = parts;

  api.post('/dashboard/join', async (context) => {
    const given = bodyOf(context, joinSchema);
    const hash = hashOfText(given.token);
    const now = deps.clock.now();
    const check = async () => (await dashboard.users.inviteOf(hash)) !== undefined;
    await guarded(context, parts, { subject: 'invite', check });
    // Before the costly hash, and once more in the transaction.
    await openInvite(hash, { users: dashboard.users, now });
    const password = await dashboard.passwords.record(given.password);
    const user = await deps.transaction(async ({ users }) => {
      const invite = await openInvite(hash, { users, now });
      const { name } = given;
      const added = await addUser(users, newUser(deps, { name, role: invite.role, password }));
      await users.updateInvite({ ...invite, usedAt: now });
      return added;
    });
    context.set('auditResource', user.id);
    deps.log.info(
      { requestId: context.get('requestId'), userId: user.id },
      'dashboard: user joined',
    );
    return welcome(context, parts, user);
  });
}
