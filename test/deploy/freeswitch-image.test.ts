import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stagesOf } from '../support/server/dockerfile.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const DOCKERFILE = read('examples/freeswitch/Dockerfile');
const [build, image] = stagesOf(DOCKERFILE);

test('the image of FreeSWITCH has the modules that freeswitch.xml loads, and no others', () => {
  const loaded = [
    ...read('sip-config/freeswitch/freeswitch.xml').matchAll(/<load module="(\w+)"/g),
  ];
  const built = build?.instructions.flatMap(({ args }) => args.match(/\bmod_\w+/g) ?? []);

  expect(built?.toSorted()).toEqual(loaded.map(([, name]) => name).toSorted());
});

test('the image of FreeSWITCH is made from sources of one commit each', () => {
  const fetches = DOCKERFILE.match(/git fetch.*/g) ?? [];

  expect(fetches).toHaveLength(3);
  for (const fetch of fetches)
    expect(fetch).toMatch(/ https:\/\/github\.com\/\S+\.git [0-9a-f]{40} /);
});

test('the image of FreeSWITCH has the version that the compose file names, and no root user', () => {
  const [, version] = /image\.version="([\d.]+)"/.exec(DOCKERFILE) ?? [];
  const user = image?.instructions.find(({ name }) => name === 'USER')?.args;

  expect(read('docker-compose.yml')).toContain(`image: offhook-freeswitch:${version}\n`);
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});
