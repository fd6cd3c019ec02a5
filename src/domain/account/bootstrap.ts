/** The first start: one account, one key and one signing secret an environment; pure */
import type { NewId, RandomBytes } from '../ids.ts';
import { type Environment, KEEP_CALLS, type Plan } from './account.ts';
import type { AccountStore } from './account-rules.ts';
import {
  API_SCOPES,
  type ApiKeyStore,
  describeKey,
  hashOfKey,
  newKeyText,
  newSigningSecret,
} from './api-key.ts';

/** Settings of the first start. */
export interface BootstrapSettings {
  readonly liveKey?: string | undefined;
  readonly testKey?: string | undefined;
  /** Used for both environments. */
  readonly signingSecret?: string | undefined;
  readonly plan?: Plan | undefined;
}

/** Keys and secrets that are shown once; the store has only hashes of the keys. */
export interface BootstrapSecrets {
  readonly liveKey: string;
  readonly testKey: string;
  readonly signingSecrets: Readonly<Record<Environment, string>>;
}

/**
 * Makes the first account when there is none.
 *
 * @returns undefined when there is an account already.
 */
export async function bootstrap(options: {
  readonly accounts: AccountStore;
  readonly settings: BootstrapSettings;
  readonly newId: NewId;
  readonly random: RandomBytes;
  readonly now: Date;
}): Promise<BootstrapSecrets | undefined> {
  const { accounts, settings, newId, random, now } = options;
  if ((await accounts.count()) > 0) return undefined;
  const secrets: BootstrapSecrets = {
    liveKey: settings.liveKey ?? newKeyText('live', random),
    testKey: settings.testKey ?? newKeyText('test', random),
    signingSecrets: {
      live: settings.signingSecret ?? newSigningSecret(random),
      test: settings.signingSecret ?? newSigningSecret(random),
    },
  };
  const accountId = newId('acct');
  const keyOf = (environment: Environment, text: string) => {
    const name = `first ${environment} key`;
    const facts = { id: newId('key'), accountId, environment, name, scopes: API_SCOPES };
    return { apiKey: describeKey(text, { ...facts, createdAt: now }), hash: hashOfKey(text) };
  };
  await accounts.found({
    account: {
      id: accountId,
      name: 'Default',
      plan: settings.plan ?? 'business',
      minutesIncluded: 1000,
      transferTargets: [],
      allowedCountries: null,
      callingHours: null,
      retention: KEEP_CALLS,
      createdAt: now,
    },
    signingSecrets: secrets.signingSecrets,
    apiKeys: [keyOf('live', secrets.liveKey), keyOf('test', secrets.testKey)],
  });
  return secrets;
}

/** Settings of the first start that a later start finds without effect: the installation has other keys or secrets. */
export async function settingsWithoutEffect(options: {
  readonly accounts: Pick<AccountStore, 'list' | 'signingSecrets'>;
  readonly apiKeys: Pick<ApiKeyStore, 'findByHash'>;
  readonly settings: BootstrapSettings;
  readonly now: Date;
}): Promise<readonly ('liveKey' | 'testKey' | 'signingSecret')[]> {
  const { accounts, apiKeys, settings, now } = options;
  const { liveKey, testKey, signingSecret } = settings;
  const isUnknown = async (key: string | undefined) =>
    key !== undefined && (await apiKeys.findByHash(hashOfKey(key)))?.revokedAt !== null;
  const signs = async () => {
    for (const { id } of await accounts.list()) {
      for (const environment of ['live', 'test'] as const) {
        const secrets = await accounts.signingSecrets(id, environment, now);
        const { current, prepared, previous } = secrets ?? {};
        if ([current, prepared, previous].includes(signingSecret)) return true;
      }
    }
    return false;
  };
  return [
    ...((await isUnknown(liveKey)) ? (['liveKey'] as const) : []),
    ...((await isUnknown(testKey)) ? (['testKey'] as const) : []),
    ...(signingSecret !== undefined && !(await signs()) ? (['signingSecret'] as const) : []),
  ];
}

/** The contract of the store that keeps the server's own secrets, such as the key of recording links. */
export interface SecretStore {
  /** Gives the secret of that name; makes and keeps it when there is none. */
  ensure(name: string, make: () => string): Promise<string>;

  find(name: string): Promise<string | undefined>;

  /**
   * Replaces `known` by `next`, unless the secret has changed meanwhile.
   *
   * @param known undefined when no secret may exist yet.
   * @param next undefined deletes the secret.
   * @returns whether it was done.
   */
  exchange(name: string, known: string | undefined, next: string | undefined): Promise<boolean>;
}
