/** Users of the dashboard: roles, names, invites, passwords, sessions, login back-off, and the contract of their store; pure */
import type { ApiKey } from './api-key.ts';

/** Each role includes those before it. */
export const ROLES = ['viewer', 'editor', 'admin'] as const;

/** Rights of a user: viewers read, editors change agents and calls, admins change everything. */
export type Role = (typeof ROLES)[number];

/** Whether a role includes the needed one. */
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

/** Users of an installation, at most. */
export const USERS_MAX = 100;

/** Invites that can still be used. */
export const INVITES_MAX = 20;

/** Lifetime of an invite. */
export const INVITE_LIFE_MS = 259_200_000;

/** An invite is kept for this long after its end, to say why its link no longer works. */
export const INVITES_KEPT_MS = 2_592_000_000;

/** Length of a user name, at most. */
export const USER_NAME_CHARS_MAX = 64;

/** Letters, digits, and the characters of e-mail addresses. */
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

  /** All invites, newest first, including those that have ended. */
  invites(): Promise<readonly Invite[]>;

  /** @param hash of the link's secret. */
  inviteOf(hash: string): Promise<Invite | undefined>;

  insertInvite(invite: Invite, hash: string): Promise<void>;

  updateInvite(invite: Invite): Promise<void>;

  /** Forgets invites that expired before. */
  pruneInvites(before: Date): Promise<void>;
}

/** Shortest password, in characters. */
export const PASSWORD_CHARS_MIN = 12;

/** Limits the work of normalising and hashing. */
export const PASSWORD_CHARS_MAX = 200;

/**
 * The form of a password that is hashed: the same letters typed on another keyboard give the same password.
 *
 * @see NIST SP 800-63B, 5.1.1.2: NFKC or NFKD
 */
export function normalPassword(password: string): string {
  return password.normalize('NFKC');
}

/** Lifetime of the setup link; the operator opens it from the terminal at once. */
export const SETUP_LINK_LIFE_MS = 1_800_000;

/** Longest session, from signing in. */
export const SESSION_LIFE_MS = 43_200_000;

/** Counted from the last request that showed the cookie. A page that is open asks for a new key before that. */
export const SESSION_IDLE_MS = 7_200_000;

/** One more takes the place of the user's session that was used longest ago; of any, where the user has none. */
export const SESSIONS_MAX = 100;

/** How long a key lives that the dashboard asks the API with. */
export const OPERATOR_KEY_LIFE_MS = 900_000;

/** One more takes the place of the session's oldest: a page asks for one, for each account and environment it shows. */
export const KEYS_A_SESSION_MAX = 20;

/** The first instant at which a session is over. */
export function sessionEndsAtMs(session: {
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}): number {
  return Math.min(session.createdAtMs + SESSION_LIFE_MS, session.lastUsedAtMs + SESSION_IDLE_MS);
}

/** Wrong tries of one client address that cost no wait. */
export const FREE_TRIES_OF_CLIENT = 5;

/** Wrong tries of all addresses together that cost no wait. */
export const FREE_TRIES_OF_ALL = 50;

const FIRST_WAIT_MS = 1000;

const LONGEST_WAIT_MS = 900_000;

/**
 * One wrong try is forgiven after each such time without another. Equal to the longest wait, so that constant guessing
 * never gets more than one try in that time.
 */
const FORGIVEN_AFTER_MS = LONGEST_WAIT_MS;

/** Count of wrong tries, as of the last one. */
export interface WrongTries {
  readonly count: number;
  readonly lastAtMs: number;
}

/** When the next try may come: 1 s after the last free one, then twice as long each time, up to 15 minutes. */
export function nextTryAtMs(tries: WrongTries, freeTries: number): number {
  if (tries.count < freeTries) return Number.NEGATIVE_INFINITY;
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (tries.count - freeTries), LONGEST_WAIT_MS);
  return tries.lastAtMs + waitMs;
}

/** The tries that still count, and one more. */
export function withWrongTry(tries: WrongTries | undefined, nowMs: number): WrongTries {
  if (tries === undefined) return { count: 1, lastAtMs: nowMs };
  const forgiven = Math.floor((nowMs - tries.lastAtMs) / FORGIVEN_AFTER_MS);
  return { count: Math.max(0, tries.count - forgiven) + 1, lastAtMs: nowMs };
}

/** A key of the dashboard, and the user of its session as they are now. */
export interface OperatorKey {
  readonly apiKey: ApiKey;
  readonly user: User;
}

/** Keys of the dashboard, in memory only; they end with the user's session. */
export interface OperatorKeys {
  /** @param hash as `hashOfKey` makes it. @returns undefined when there is no such key, or it has died. */
  findByHash(hash: string): Promise<OperatorKey | undefined>;

  isAlive(apiKeyId: string): Promise<boolean>;
}
