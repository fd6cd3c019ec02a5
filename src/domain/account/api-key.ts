/** API keys: their form, their scopes, and the contract of the store that keeps their hashes; pure */
import { hash } from 'node:crypto';
import type { Scope } from '../agent/agent.ts';
import { base62, type Page, type PageRange, type RandomBytes } from '../ids.ts';
import type { Environment } from './account.ts';

/** Scopes of API keys; `admin` includes all others. */
export const API_SCOPES = [
  'agents:read',
  'agents:write',
  'calls:read',
  'calls:write',
  'analytics:read',
  'webhooks:read',
  'webhooks:write',
  'admin',
] as const;

/** One permission of an API key. */
export type ApiScope = (typeof API_SCOPES)[number];

/** A key as it is kept: enough to recognise it, not enough to use it. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly name: string;
  /** `svc_live_` or `svc_test_`. */
  readonly prefix: string;
  readonly lastFour: string;
  readonly scopes: readonly ApiScope[];
  readonly createdAt: Date;
  /** Known to the minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Limit of keys that are not revoked, per account and environment. */
export const API_KEYS_MAX = 100;

/** Keeps API keys by the SHA-256 of the whole key; the key itself is nowhere. */
export interface ApiKeyStore {
  /** @throws {ServiceError} CONFLICT when there are `API_KEYS_MAX` already. */
  insert(apiKey: ApiKey, hash: string): Promise<void>;

  find(accountId: string, apiKeyId: string): Promise<ApiKey | undefined>;

  /** Finds revoked keys too: the caller looks at `revokedAt`. */
  findByHash(hash: string): Promise<ApiKey | undefined>;

  /** Newest first. */
  list(scope: Scope): Promise<readonly ApiKey[]>;

  /** Newest first, ties by id, revoked ones too. */
  page(
    accountId: string,
    query: PageRange & { readonly environments: readonly Environment[] },
  ): Promise<Page<ApiKey>>;

  touch(apiKeyId: string, usedAt: Date): Promise<void>;

  /** Does nothing when the key was revoked before. */
  revoke(scope: Scope, apiKeyId: string, revokedAt: Date): Promise<void>;
}

/** First characters of the keys of each environment. */
export const KEY_PREFIX = {
  live: 'svc_live_',
  test: 'svc_test_',
} as const satisfies Record<Environment, string>;

/** 190 bits, so that the hash needs no salt and no slowness. */
const SECRET_CHARS = 32;

/** Makes a key's text. It is shown once and never kept. */
export function newKeyText(environment: Environment, random: RandomBytes): string {
  return `${KEY_PREFIX[environment]}${base62(SECRET_CHARS, random)}`;
}

/**
 * Makes a key and its text.
 *
 * @param draft.scopes everything but `admin` unless given.
 */
export function createApiKey(
  draft: {
    readonly name: string;
    readonly scopes?: readonly ApiScope[] | undefined;
  },
  made: {
    readonly id: string;
    readonly scope: Scope;
    readonly now: Date;
    readonly random: RandomBytes;
  },
): { readonly apiKey: ApiKey; readonly keyText: string } {
  const { id, scope, now, random } = made;
  const { accountId, environment } = scope;
  const keyText = newKeyText(environment, random);
  const scopes = draft.scopes ?? API_SCOPES.filter((each) => each !== 'admin');
  const facts = { id, accountId, environment, name: draft.name, scopes, createdAt: now };
  return { apiKey: describeKey(keyText, facts), keyText };
}

/** Makes a webhook signing secret: `whsec_` and 24 bytes in base64, the form that Standard Webhooks reads. */
export function newSigningSecret(random: RandomBytes): string {
  return `whsec_${Buffer.from(random(24)).toString('base64')}`;
}

/** 128 bits at least; secrets that the server makes have 192. */
const SIGNING_BYTES_MIN = 16;

/** Padded. RFC 4648 section 4. */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whether the libraries of Standard Webhooks read a secret: `whsec_` and 16 bytes or more in Base64, padded. */
export function isSigningSecret(text: string): boolean {
  const encoded = text.startsWith('whsec_') ? text.slice('whsec_'.length) : '';
  return BASE64.test(encoded) && Buffer.from(encoded, 'base64').length >= SIGNING_BYTES_MIN;
}

/** SHA-256 of the whole key, lowercase hexadecimal. */
export function hashOfKey(text: string): string {
  return hash('sha256', text);
}

/** The record of a key, without its text. */
export function describeKey(
  text: string,
  facts: Pick<ApiKey, 'id' | 'accountId' | 'environment' | 'name' | 'scopes' | 'createdAt'>,
): ApiKey {
  return {
    ...facts,
    prefix: KEY_PREFIX[facts.environment],
    lastFour: text.slice(-4),
    lastUsedAt: null,
    revokedAt: null,
  };
}

/** Whether a key may use operations that need `scope`; an `admin` key may use all. */
export function mayUse(apiKey: Pick<ApiKey, 'scopes'>, scope: ApiScope): boolean {
  return apiKey.scopes.includes(scope) || apiKey.scopes.includes('admin');
}

/**
 * The environments whose keys an admin key manages. A leaked key of the sandbox does no harm, so it must not make a key
 * that places real calls.
 */
export function environmentsManagedBy(apiKey: Pick<ApiKey, 'environment'>): readonly Environment[] {
  return apiKey.environment === 'live' ? ['live', 'test'] : ['test'];
}
