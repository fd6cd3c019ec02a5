/** `admin user …`: who may sign in to the dashboard; and `admin operator reset`, for the password of the only user. */
import { type Command, InvalidArgumentError } from 'commander';
import {
  ROLES,
  type Role,
  type StoredUser,
  USER_NAME,
  USER_NAME_CHARS_MAX,
  userNamed,
} from '../domain/account/user.ts';
import {
  addUser,
  changeUser,
  removeUser,
  replacePassword,
} from '../domain/account/user-changes.ts';
import { newSecretText } from '../lib/secrets.ts';
import { PasswordHasher } from '../operator/password-hasher.ts';
import { atDesk, type Console, type Desk, patiently, type Result, table } from './admin-command.ts';

/** Adds `admin user`. */
export function addUserCommands(root: Command, console: Console): void {
  const user = root.command('user').description('users of the dashboard and their roles');
  atDesk(user.command('list').description('lists users, oldest first'), console, listUsers);

  const add = user.command('add').description('adds a user and shows the password, this once');
  add.argument('<name>', 'how the user signs in', nameArgument);
  add.requiredOption('--role <role>', ROLES.join(', '), roleArgument);
  atDesk<{ readonly role: Role }>(add, console, (desk, { role }, name = '') =>
    insertUser(desk, name, role),
  );

  const reset = user.command('reset-password').description('sets a new password and shows it');
  reset.argument('<name>', 'which user');
  atDesk(reset, console, (desk, _options, name = '') => resetPassword(desk, name));

  const role = user.command('role').description('changes the role of a user');
  role.argument('<name>', 'which user').argument('<role>', ROLES.join(', '), roleArgument);
  atDesk(role, console, (desk, _options, name = '', word = '') =>
    change(desk, name, { role: roleArgument(word) }),
  );

  const disable = user.command('disable').description('signs a user out and in no more');
  disable.argument('<name>', 'which user');
  atDesk(disable, console, (desk, _options, name = '') => change(desk, name, { isDisabled: true }));

  const enable = user.command('enable').description('lets a disabled user sign in again');
  enable.argument('<name>', 'which user');
  atDesk(enable, console, (desk, _options, name = '') => change(desk, name, { isDisabled: false }));

  const remove = user.command('remove').description('removes a user for good');
  remove.argument('<name>', 'which user');
  atDesk(remove, console, (desk, _options, name = '') => deleteUser(desk, name));
}

async function listUsers({ store }: Desk): Promise<Result> {
  const users = (await store.users.list()).map(viewOf);
  const head = ['ID', 'NAME', 'ROLE', 'LAST SIGN-IN', 'STATE'];
  const rows = users.map(({ id, name, role, lastSignInAt, disabledAt }) => [
    id,
    name,
    role,
    lastSignInAt?.toISOString() ?? 'never',
    disabledAt === null ? 'may sign in' : `disabled ${disabledAt.toISOString()}`,
  ]);
  return { text: table([head, ...rows], 'There are no users.'), json: users };
}

async function insertUser(desk: Desk, name: string, role: Role): Promise<Result> {
  const { store, now, newId } = desk;
  const { shown, record } = await newPassword(desk);
  const dates = { createdAt: now, lastSignInAt: null, disabledAt: null };
  const user = { id: newId('usr'), name, role, password: record, stamp: 1, ...dates };
  await patiently(() => store.transaction(({ users }) => addUser(users, user)));
  return passwordShown(user, shown);
}

async function resetPassword(desk: Desk, name: string): Promise<Result> {
  const { id } = await userOf(desk, name);
  const { shown, record } = await newPassword(desk);
  const changed = await patiently(() =>
    desk.store.transaction(({ users }) => replacePassword(id, record, { users })),
  );
  if (changed === undefined) throw new Error(`Cannot reset the password of "${name}": removed`);
  return passwordShown(changed, shown);
}

async function newPassword({ random }: Desk) {
  const shown = newSecretText(random).slice(0, 24);
  return { shown, record: await new PasswordHasher({ random }).record(shown) };
}

function passwordShown(user: StoredUser, password: string): Result {
  const news = `${password}\n\nThe password of "${user.name}" (${user.role}), shown this once.`;
  return {
    text: `${news} It can be changed in the dashboard, under Settings.`,
    json: { ...viewOf(user), password },
  };
}

async function change(
  desk: Desk,
  name: string,
  to: Parameters<typeof changeUser>[1],
): Promise<Result> {
  const { store, now } = desk;
  const { id } = await userOf(desk, name);
  const user = await patiently(() =>
    store.transaction(({ users }) => changeUser(id, to, { users, by: null, now })),
  );
  const state = user.disabledAt === null ? 'may sign in' : 'is disabled';
  return {
    text: `"${user.name}" has the role ${user.role} and ${state}. A change ends the sessions of the user.`,
    json: viewOf(user),
  };
}

async function deleteUser(desk: Desk, name: string): Promise<Result> {
  const { store, now } = desk;
  const { id } = await userOf(desk, name);
  const user = await patiently(() =>
    store.transaction(({ users }) => removeUser(id, { users, by: null, now })),
  );
  return { text: `"${user.name}" is removed.`, json: viewOf(user) };
}

async function userOf({ store }: Desk, name: string): Promise<StoredUser> {
  const users = await store.users.list();
  const found = userNamed(users, name) ?? users.find(({ id }) => id === name);
  if (found !== undefined) return found;
  throw new Error(`There is no user "${name}": "user list" shows them`);
}

/** View of a user, without password and stamp. */
function viewOf({ id, name, role, createdAt, lastSignInAt, disabledAt }: StoredUser) {
  return { id, name, role, createdAt, lastSignInAt, disabledAt };
}

function nameArgument(text: string): string {
  const name = text.trim().normalize('NFC');
  if (name.length <= USER_NAME_CHARS_MAX && USER_NAME.test(name)) return name;
  throw new InvalidArgumentError(
    `Expected 1 to ${USER_NAME_CHARS_MAX} letters, digits, spaces and . _ @ + -.`,
  );
}

function roleArgument(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role !== undefined) return role;
  throw new InvalidArgumentError(`Expected one of ${ROLES.join(', ')}.`);
}

/** Adds `admin operator`. */
export function addOperatorCommands(root: Command, console: Console): void {
  const operator = root.command('operator').description('the password of the dashboard');
  const command = operator
    .command('reset')
    .description(
      'forgets the password of the only user; the next start of the server prints a link that sets a new one',
    );
  atDesk(command, console, forgetPassword);
}

/** A running server ends the user's sessions by itself. */
async function forgetPassword({ store }: Desk): Promise<Result> {
  const wasSet = await patiently(() =>
    store.transaction(async ({ users }) => {
      const [only, ...others] = await users.list();
      if (others.length > 0) {
        throw new Error('There are several users: use "user reset-password <name>" instead');
      }
      if (only === undefined || only.password === null) return false;
      return (await replacePassword(only.id, null, { users })) !== undefined;
    }),
  );
  const news = wasSet
    ? 'The password is forgotten, and everybody is signed out.'
    : 'There was no password.';
  const text = `${news}\nStart the server again: it prints a link that sets one.`;
  return { text, json: { wasSet } };
}
