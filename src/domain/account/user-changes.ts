/** Changes to users and invites, with the permissions that they need. Run each as one transaction; pure */
import { conflict, ServiceError } from '../service-error.ts';
import {
  INVITE_LIFE_MS,
  INVITES_KEPT_MS,
  INVITES_MAX,
  type Invite,
  isAdmin,
  type Role,
  type StoredUser,
  USERS_MAX,
  type UserStore,
  userNamed,
} from './user.ts';

/** The user who makes a change, as in the request's session; null for the command line. */
export type ChangingUser = Pick<StoredUser, 'id' | 'stamp'> | null;

interface Changing {
  readonly users: UserStore;
  readonly by: ChangingUser;
  readonly now: Date;
}

/**
 * Adds a user.
 *
 * @throws {ServiceError} CONFLICT when the name is taken or there are `USERS_MAX` already.
 */
export async function addUser(users: UserStore, user: StoredUser): Promise<StoredUser> {
  const known = await users.list();
  if (userNamed(known, user.name) !== undefined) {
    throw conflict('Cannot add the user: the name is taken; choose another');
  }
  if (known.length >= USERS_MAX) {
    throw conflict(`Cannot add the user: there are ${USERS_MAX}, which is the limit`);
  }
  await users.insert(user);
  return user;
}

/**
 * Changes name, role and admission of a user. Another role or admission ends their sessions and revokes the invites they made.
 *
 * @throws {ServiceError} FORBIDDEN for a change of one's own or by a user who is no admin any more, NOT_FOUND, CONFLICT for the
 * last admin and for a name that is taken.
 */
export async function changeUser(
  userId: string,
  change: {
    readonly name?: string | undefined;
    readonly role?: Role | undefined;
    readonly isDisabled?: boolean | undefined;
  },
  changing: Changing,
): Promise<StoredUser> {
  const { users, now } = changing;
  const user = await renamed(await changeable(userId, changing), change.name, users);
  const role = change.role ?? user.role;
  const isDisabled = change.isDisabled ?? user.disabledAt !== null;
  const disabledAt = isDisabled ? (user.disabledAt ?? now) : null;
  if (role === user.role && disabledAt === user.disabledAt) return user;
  const changed = { ...user, role, disabledAt, stamp: user.stamp + 1 };
  await refuseLastAdmin(user, changed, users);
  await users.update(changed);
  await revokeInvitesOf(userId, { users, now });
  return changed;
}

async function renamed(
  user: StoredUser,
  name: string | undefined,
  users: UserStore,
): Promise<StoredUser> {
  if (name === undefined || name === user.name) return user;
  const holder = userNamed(await users.list(), name);
  if (holder !== undefined && holder.id !== user.id) {
    throw conflict('Cannot rename the user: the name is taken; choose another');
  }
  const changed = { ...user, name };
  await users.update(changed);
  return changed;
}

/** Removes a user for good. @throws {ServiceError} as `changeUser`. */
export async function removeUser(userId: string, changing: Changing): Promise<StoredUser> {
  const { users, now } = changing;
  const user = await changeable(userId, changing);
  await refuseLastAdmin(user, undefined, users);
  await users.delete(userId);
  await revokeInvitesOf(userId, { users, now });
  return user;
}

/**
 * Replaces a password, which ends all sessions of the user.
 *
 * @param known the record that the change was made from; undefined takes any.
 * @returns undefined when another password was set meanwhile.
 */
export async function replacePassword(
  userId: string,
  next: string | null,
  { users, known }: { readonly users: UserStore; readonly known?: string },
): Promise<StoredUser | undefined> {
  const user = await users.find(userId);
  if (user === undefined || (known !== undefined && user.password !== known)) return undefined;
  const changed = { ...user, password: next, stamp: user.stamp + 1 };
  await users.update(changed);
  return changed;
}

/** Keeps an invite. @throws {ServiceError} FORBIDDEN by a user who is no admin any more, CONFLICT when `INVITES_MAX` are open. */
export async function addInvite(
  given: { readonly id: string; readonly role: Role; readonly hash: string },
  changing: Changing & { readonly by: NonNullable<ChangingUser> },
): Promise<Invite> {
  const { users, by, now } = changing;
  await requireAdmin(changing);
  await users.pruneInvites(new Date(now.getTime() - INVITES_KEPT_MS));
  const open = (await users.invites()).filter((invite) => whyClosed(invite, now) === undefined);
  if (open.length >= INVITES_MAX) {
    throw conflict(`Cannot make the invite: ${INVITES_MAX} are open; revoke one first`);
  }
  const expiresAt = new Date(now.getTime() + INVITE_LIFE_MS);
  const { id, role, hash } = given;
  const ends = { createdAt: now, expiresAt, usedAt: null, revokedAt: null };
  const invite = { id, role, createdBy: by.id, ...ends };
  await users.insertInvite(invite, hash);
  return invite;
}

/** Ends an invite; one that has ended stays as it is. @throws {ServiceError} NOT_FOUND, and FORBIDDEN as `addInvite`. */
export async function revokeInvite(inviteId: string, changing: Changing): Promise<void> {
  const { users, now } = changing;
  await requireAdmin(changing);
  const invite = (await users.invites()).find(({ id }) => id === inviteId);
  if (invite === undefined) {
    throw new ServiceError('NOT_FOUND', 'Cannot revoke the invite: there is none with this id');
  }
  if (whyClosed(invite, now) === undefined) await users.updateInvite({ ...invite, revokedAt: now });
}

/**
 * The invite of a link that still works.
 *
 * @throws {ServiceError} UNAUTHORIZED for an unknown link, CONFLICT for one that is used, revoked or expired.
 */
export async function openInvite(
  hash: string,
  { users, now }: Pick<Changing, 'users' | 'now'>,
): Promise<Invite> {
  const invite = await users.inviteOf(hash);
  if (invite === undefined) {
    throw new ServiceError(
      'UNAUTHORIZED',
      'Cannot use the invite: there is no such link; ask an admin for a new one',
    );
  }
  const why = whyClosed(invite, now);
  if (why !== undefined) {
    throw conflict(`Cannot use the invite: the link ${why}; ask an admin for a new one`);
  }
  return invite;
}

function whyClosed({ usedAt, revokedAt, expiresAt }: Invite, now: Date): string | undefined {
  if (usedAt !== null) return 'has been used';
  if (revokedAt !== null) return 'was revoked';
  return now >= expiresAt ? 'has expired' : undefined;
}

/** Whether the invite's link still works. */
export function isOpenInvite(invite: Invite, now: Date): boolean {
  return whyClosed(invite, now) === undefined;
}

/** The user that is to be changed: never the one who changes. */
async function changeable(userId: string, changing: Changing): Promise<StoredUser> {
  await requireAdmin(changing);
  if (changing.by?.id === userId) {
    throw new ServiceError(
      'FORBIDDEN',
      'Cannot change your own name, role or admission: another admin can',
    );
  }
  const user = await changing.users.find(userId);
  if (user !== undefined) return user;
  throw new ServiceError('NOT_FOUND', 'Cannot find the user: there is none with this id');
}

/** The session was checked before the transaction began: the user may have been demoted since. */
async function requireAdmin({ users, by }: Pick<Changing, 'users' | 'by'>): Promise<void> {
  if (by === null) return;
  const user = await users.find(by.id);
  if (user !== undefined && user.stamp === by.stamp && isAdmin(user)) return;
  throw new ServiceError('FORBIDDEN', 'Cannot change users: you are no admin any more');
}

async function refuseLastAdmin(
  before: StoredUser,
  after: StoredUser | undefined,
  users: UserStore,
): Promise<void> {
  if (!isAdmin(before) || (after !== undefined && isAdmin(after))) return;
  const others = (await users.list()).filter(({ id }) => id !== before.id);
  if (others.some(isAdmin)) return;
  throw conflict(
    `Cannot take the last admin away: make another user an admin before you change "${before.name}"`,
  );
}

/** A demoted admin must not come back by an invite of their own. */
async function revokeInvitesOf(
  userId: string,
  { users, now }: Pick<Changing, 'users' | 'now'>,
): Promise<void> {
  for (const invite of await users.invites()) {
    if (invite.createdBy === userId && isOpenInvite(invite, now)) {
      await users.updateInvite({ ...invite, revokedAt: now });
    }
  }
}
