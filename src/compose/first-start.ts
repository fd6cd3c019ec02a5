/** Composition root: the account, keys and secrets of a first start, and what later starts make of their settings. */
import { randomBytes } from 'node:crypto';
import { type Config, ConfigError } from '../config/config.ts';
import { isSigningSecret } from '../domain/account/api-key.ts';
import { bootstrap, settingsWithoutEffect } from '../domain/account/bootstrap.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Store } from '../store/store.ts';
import type { Notice } from './notice.ts';
import { bootstrapNotice } from './startup-banner.ts';

const SETTINGS = {
  liveKey: 'BOOTSTRAP_LIVE_KEY',
  testKey: 'BOOTSTRAP_TEST_KEY',
  signingSecret: 'WEBHOOK_SIGNING_SECRET',
} as const;

/**
 * Makes the first account, or warns of settings that only a first start reads.
 *
 * @returns what the operator must be shown, at once: keys are kept as hashes only.
 * @throws {ConfigError} when the signing secret of a first start is none.
 */
export function firstStart(parts: {
  readonly config: Config;
  readonly store: Pick<Store, 'accounts' | 'apiKeys'>;
  readonly newId: NewId;
  readonly log: Logger;
}): Notice | undefined {
  const { config, store, newId, log } = parts;
  const { accounts, apiKeys } = store;
  const now = systemClock.now();
  const settings = {
    liveKey: config.BOOTSTRAP_LIVE_KEY,
    testKey: config.BOOTSTRAP_TEST_KEY,
    signingSecret: config.WEBHOOK_SIGNING_SECRET,
  };
  if (accounts.count() === 0) {
    checkSigningSecret(settings.signingSecret);
    const secrets = bootstrap({ accounts, settings, newId, random: randomBytes, now });
    return secrets && bootstrapNotice(secrets, config);
  }
  for (const name of settingsWithoutEffect({ accounts, apiKeys, settings, now })) {
    const remedy = `npm run admin -- ${name === 'signingSecret' ? 'secret' : 'key create'}`;
    const fields = { setting: SETTINGS[name], remedy };
    log.warn(fields, 'setting has no effect: it counts at the first start only, which is over');
  }
  return undefined;
}

/** Here and not with the other settings: an installation that has such a secret must go on starting. */
function checkSigningSecret(secret: string | undefined): void {
  if (secret === undefined || isSigningSecret(secret)) return;
  throw new ConfigError(
    'Cannot start with these settings:\n  WEBHOOK_SIGNING_SECRET: expected whsec_ and at least 16 bytes in Base64, such as the output of: echo "whsec_$(openssl rand -base64 24)"',
  );
}
