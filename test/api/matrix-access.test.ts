/** Every operation of the document meets every key that must not get through: what others add is met as well. */
import { expect, test } from 'vitest';
import {
  API_SCOPES,
  type ApiScope,
  hashOfKey,
  KEY_PREFIX,
} from '../../src/domain/account/api-key.ts';
import {
  type ApiWorld,
  FOREIGN_ADMIN_KEY,
  keyOf,
  openApiWorld,
  REVOKED_KEY,
  SANDBOX_ADMIN_KEY,
  SCOPELESS_KEY,
} from '../support/api/api-world.ts';
import { ask, expectErrors, OPERATIONS } from '../support/api/ask-operations.ts';
import { textOf } from '../support/api/event-reader.ts';
import type { Operation } from '../support/api/openapi-description.ts';
import { addKey } from '../support/api/test-api.ts';

/** A telephone number is no id: who may assign one is in test/api/number-owners.test.ts. */
const WITH_ID = OPERATIONS.filter(({ path }) => /\{(?!number\})/.test(path));

/** Voices are shared by all accounts. */
/** Voices, trunks and downloads of models are those of the installation. */
const OWNED = WITH_ID.filter(({ path }) => !/\{(voiceId|trunkName|downloadId)\}/.test(path));

test.each([
  ['no key', null],
  ['a key that is none', 'hello'],
  ['an unknown key', `svc_live_${'8'.repeat(32)}`],
  ['a revoked key', REVOKED_KEY],
])('Every operation answers 401 to %s', async (_case, key) => {
  const world = await openApiWorld();

  await expectErrors(world, OPERATIONS, () => ({ key }), { status: 401, code: 'UNAUTHORIZED' });

  const response = await world.api.request('GET', '/api/agents', { key });
  expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
});

test('Every operation answers 403 to a key without the scope', async () => {
  const world = await openApiWorld();

  const options = { key: SCOPELESS_KEY };
  await expectErrors(world, OPERATIONS, () => options, { status: 403, code: 'FORBIDDEN' });
});

test('Every operation admits keys with its documented scope, and no others', async () => {
  const world = await openApiWorld();
  const lacksScope = async (operation: Operation, scopes: readonly ApiScope[]) => {
    const response = await ask(world, operation, {
      key: await scopedKey(world, operation, scopes),
    });
    return (await textOf(response)).includes('it lacks the scope');
  };
  const faults: string[] = [];
  for (const operation of OPERATIONS) {
    const own = API_SCOPES.filter((scope) => scope === operation.docs.security?.[0]?.bearer?.[0]);
    const others = API_SCOPES.filter((scope) => ![...own, 'admin'].includes(scope));
    if (await lacksScope(operation, own)) faults.push(`${operation.path} wants more than ${own}`);
    if (!(await lacksScope(operation, others))) faults.push(`${operation.path} wants no ${own}`);
  }

  expect(faults).toEqual([]);
});

test('Every operation answers 404 to an id that does not exist', async () => {
  const world = await openApiWorld();

  const options = (operation: Operation) => ({ path: operation.path.replace(/\{\w+\}/, 'x_none') });
  await expectErrors(world, WITH_ID, options, { status: 404 });
});

test.each([
  ['another account', FOREIGN_ADMIN_KEY],
  ['the other environment', SANDBOX_ADMIN_KEY],
])('Every operation answers to %s as if the resource had never been, byte for byte', async (_case, key) => {
  const world = await openApiWorld();
  const faults: string[] = [];
  for (const operation of OWNED) {
    const none = operation.path.replace(/\{\w+\}/, 'x_none');
    const [ofTheirs, ofNone] = [
      await ask(world, operation, { key }),
      await ask(world, operation, { key, path: none }),
    ];
    const texts = [await ofTheirs.text(), await ofNone.text()].map((text) =>
      text.replace(/req_\w{24}/, 'req_'),
    );
    const label = `${operation.method} ${operation.path}`;
    if (ofTheirs.status !== 404 || texts[0] !== texts[1]) faults.push(`${label} ${texts.join()}`);
    if (headersOf(ofTheirs) !== headersOf(ofNone)) faults.push(`${label} differs in its headers`);
  }

  expect(faults).toEqual([]);
});

/** A key with these scopes, of the environment that the operation is for. */
async function scopedKey(
  { api }: ApiWorld,
  operation: Operation,
  scopes: readonly ApiScope[],
): Promise<string> {
  const prefix = keyOf(operation).slice(0, 'svc_live_'.length);
  const environment = prefix === KEY_PREFIX.live ? 'live' : 'test';
  const key = `${prefix}${hashOfKey(prefix + scopes.join()).slice(0, 32)}`;
  if ((await api.store.apiKeys.findByHash(hashOfKey(key))) === undefined) {
    await addKey(api.store, key, { accountId: 'acct_main', environment, scopes });
  }
  return key;
}

/** All but those that differ for every request. */
function headersOf(response: Response): string {
  const own = ['x-request-id', 'x-ratelimit-remaining'];
  return JSON.stringify([...response.headers].filter(([name]) => !own.includes(name)));
}
