/** Users of the dashboard: roles, names, invites, and the contract of the store that keeps them; pure */

/** Each role includes those before it. */
export const ROLES = ['viewer', 'editor', 'admin'] as const;

/** What a user may do: read; change agents and calls; change everything. */
export type Role = (typeof ROLES)[number];

/** Whether a user of the role may use what needs another. */
export function mayActAs(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** A person who signs in to the dashboard. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
  /** Null while the user may sign in. */
  readonly disabledAt: Date | null;
}

/** A user as it is kept. */
export interface StoredUser extends User {
  /** Record of the password's hash; null where none is set. */
  readonly password: string | null;
  /** Raised by each change of role, password and admission: sessions of an older stamp have ended. */
  readonly stamp: number;
}

/** A link that makes one user. Its secret is kept as a hash. */
export interface Invite {
  readonly id: string;
  readonly role: Role;
  /** Id of the user who made it. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  readonly revokedAt: Date | null;
}

export const USERS_MAX = 100;

/** Invites that can still be used. */
export const INVITES_MAX = 20;

/** Lifetime of an invite. */
export const INVITE_LIFE_MS = 259_200_000;

/** An invite is kept for this long after its end, to say why its link no longer works. */
export const INVITES_KEPT_MS = 2_592_000_000;

export const USER_NAME_CHARS_MAX = 64;

/** Letters, digits and what e-mail addresses have. */
export const USER_NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]*$/u;

/** Name of the user that the setup link makes. */
export const FIRST_USER_NAME = 'admin';

/** The form by which names are compared. */
export function userNameKey(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase();
}

/** Whether the user is an admin who is not disabled. */
export function isAdmin({ role, disabledAt }: User): boolean {
  return role === 'admin' && disabledAt === null;
}

/** Whether an admin can sign in: the server needs no setup link. */
export function isSetUp(users: readonly StoredUser[]): boolean {
  return users.some((user) => isAdmin(user) && user.password !== null);
}

/** The user of that name; without a name the only user. */
export function userNamed(
  users: readonly StoredUser[],
  name: string | undefined,
): StoredUser | undefined {
  if (name === undefined) return users.length === 1 ? users[0] : undefined;
  return users.find((user) => userNameKey(user.name) === userNameKey(name));
}

/** Keeps users and invites. */
export interface UserStore {
  /** Oldest first. */
  list(): Promise<readonly StoredUser[]>;

  find(userId: string): Promise<StoredUser | undefined>;

  insert(user: StoredUser): Promise<void>;

  update(user: StoredUser): Promise<void>;

  delete(userId: string): Promise<void>;

  signedIn(userId: string, at: Date): Promise<void>;

  /** Newest first, those that have ended too. */
  invites(): Promise<readonly Invite[]>;

  /** @param hash of the link's secret. */
  inviteOf(hash: string): Promise<Invite | undefined>;

  insertInvite(invite: Invite, hash: string): Promise<void>;

  updateInvite(invite: Invite): Promise<void>;

  /** Forgets invites that expired before. */
  pruneInvites(before: Date): Promise<void>;
}
