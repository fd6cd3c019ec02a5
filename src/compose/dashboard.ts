/** Composition root: the dashboard's server side, and the link that sets its password. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import type { NewId } from '../domain/ids.ts';
import { systemClock } from '../lib/clock.ts';
import { Dashboard } from '../operator/dashboard.ts';
import { runSelfTestProcess } from '../operator/self-test.ts';
import type { Store } from '../store/store.ts';

/** Output folders of `npm run build`. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));
const MANUAL_FOLDER = fileURLToPath(new URL('../../dist/manual', import.meta.url));

/** Makes the dashboard's server side on the store's users. */
export function openDashboard(from: { readonly store: Store; readonly newId: NewId }): Dashboard {
  const { store, newId } = from;
  return new Dashboard({
    users: store.users,
    clock: systemClock,
    random: randomBytes,
    newId,
    pageFolder: PAGE_FOLDER,
    manualFolder: MANUAL_FOLDER,
    runSelfTest: runSelfTestProcess,
  });
}

/** Makes a new link that sets the password; undefined where there is a password already. */
export async function setupUrlOf(
  dashboard: Dashboard,
  config: Pick<Config, 'PUBLIC_URL'>,
): Promise<string | undefined> {
  const token = await dashboard.issueSetupToken();
  const publicUrl = config.PUBLIC_URL.replace(/\/$/, '');
  return token === undefined ? undefined : `${publicUrl}/#/setup?token=${token}`;
}
