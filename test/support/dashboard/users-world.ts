/** The interface with one of everything and a signed-in browser for each role. */
import type { Role } from '../../../src/domain/account/user.ts';
import { addUser } from '../../../src/domain/account/user-changes.ts';
import type { Dashboard } from '../../../src/operator/dashboard.ts';
import { type ApiWorld, openApiWorld } from '../api/api-world.ts';
import type { TestStore } from '../store/test-store.ts';
import { Browser, openDashboard, PASSWORD, routesOf } from './dashboard-world.ts';

export interface UsersWorld extends ApiWorld {
  readonly store: TestStore;
  readonly dashboard: Dashboard;
  /** Adds a user, whose id is `usr_` and the name. */
  add(name: string, role: Role): Promise<void>;
  /** A browser that is signed in as the user. */
  signIn(name: string): Promise<Browser>;
}

/** Has the users `viewer`, `editor` and `admin`, each with the role of that name. */
export async function openUsersWorld(): Promise<UsersWorld> {
  let dashboard: Dashboard | undefined;
  const world = await openApiWorld((store) => {
    const opened = openDashboard(store);
    dashboard = opened;
    return routesOf(opened);
  });
  if (dashboard === undefined) throw new Error('The interface was not made');
  const { api } = world;
  const { store } = api;
  const password = await dashboard.passwords.record(PASSWORD);
  const add = async (name: string, role: Role) => {
    const dates = { createdAt: store.clock.now(), lastSignInAt: null, disabledAt: null };
    await addUser(store.users, { id: `usr_${name}`, name, role, password, stamp: 1, ...dates });
  };
  for (const role of ['viewer', 'editor', 'admin'] as const) await add(role, role);
  const signIn = async (name: string) => {
    const browser = new Browser(api);
    const { status } = await browser.json('POST', '/dashboard/login', {
      body: { name, password: PASSWORD },
    });
    if (status !== 200) throw new Error(`Cannot sign in as ${name}: ${status}`);
    return browser;
  };
  return { ...world, store, dashboard, add, signIn };
}
