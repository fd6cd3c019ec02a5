import { expect, test } from 'vitest';
import { nameResolver } from '../../src/webhook/ssrf-guard.ts';

const unknown = () => Promise.reject(new Error('unknown'));

/** A system whose look-ups end when the test says so. */
function heldLookup() {
  const waiting: { readonly name: string; readonly end: (address: string | undefined) => void }[] =
    [];
  const lookup = (name: string) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const end = (address: string | undefined) =>
        address === undefined ? reject(new Error('unknown')) : resolve([address]);
      waiting.push({ name, end });
    });
  return { lookup, waiting, names: () => waiting.map(({ name }) => name) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('nameResolver gives IPv4 addresses, then IPv6 addresses, and does not ask the system', async () => {
  const { lookup, names } = heldLookup();
  const resolve = nameResolver({
    resolve4: async () => ['8.8.8.8', '8.8.4.4'],
    resolve6: async () => ['2606:4700::1111'],
    lookup,
  });

  const addresses = await resolve('receiver.example');

  expect(addresses).toEqual(['8.8.8.8', '8.8.4.4', '2606:4700::1111']);
  expect(names()).toEqual([]);
});

test('nameResolver gives what one of both name servers knows', async () => {
  const { lookup } = heldLookup();
  const only4 = nameResolver({ resolve4: async () => ['8.8.8.8'], resolve6: unknown, lookup });
  const only6 = nameResolver({ resolve4: unknown, resolve6: async () => ['2606::1'], lookup });

  const addresses = [await only4('a.example'), await only6('a.example')];

  expect(addresses).toEqual([['8.8.8.8'], ['2606::1']]);
});

test('nameResolver asks the system one name at a time, in order, also after a failure', async () => {
  const { lookup, waiting, names } = heldLookup();
  const resolve = nameResolver({ resolve4: unknown, resolve6: unknown, lookup });

  const asked = ['a', 'b', 'c'].map((name) => resolve(name).catch(() => 'failed'));
  await settled();
  const first = names();
  waiting[0]?.end(undefined);
  await settled();
  const second = names();
  waiting[1]?.end('10.0.0.2');
  await settled();
  waiting[2]?.end('10.0.0.3');
  const later = resolve('d');
  await settled();
  waiting[3]?.end('10.0.0.4');

  expect([first, second]).toEqual([['a'], ['a', 'b']]);
  expect(await Promise.all(asked)).toEqual(['failed', ['10.0.0.2'], ['10.0.0.3']]);
  expect(await later).toEqual(['10.0.0.4']);
});

test('nameResolver lets 64 names wait for the system, and refuses more', async () => {
  const { lookup, waiting } = heldLookup();
  const resolve = nameResolver({ resolve4: unknown, resolve6: unknown, lookup });
  const asked = Array.from({ length: 65 }, (_, index) => resolve(`name${index}`));
  await settled();

  const refused = await resolve('more.example').catch((error: unknown) => error);
  for (let index = 0; index < asked.length; index += 1) {
    waiting[index]?.end('10.0.0.1');
    await settled();
  }

  expect(refused).toMatchObject({
    code: 'EAI_AGAIN',
    message: 'Cannot look up "more.example": too many names wait already',
  });
  expect(await Promise.all(asked)).toHaveLength(65);
});

test('nameResolver finds a name of this machine', async () => {
  const addresses = await nameResolver()('localhost');

  expect(addresses.some((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
});
