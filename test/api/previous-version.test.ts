/** What clients and operators of the version before wrote still holds: OpenAPI, webhook vectors, settings. */
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { readDescription } from '../support/api/api-description.ts';
import { readPrevious, readPreviousOpenapi } from '../support/store/previous-version.ts';
import { readVectors } from '../support/webhook/webhook-vectors.ts';

/** Read by people, or by generators where an addition is a new requirement: compared apart. */
const IGNORED = new Set(['description', 'summary', 'example', 'examples', 'title', 'tags']);

const SCENARIO = 'components.schemas.InboundSandboxCall.properties.scenario.pattern: ';

/** Closed lists of a request that take other values as well by now: what was valid still is. */
const WIDENED = [
  ...['CreateAgent', 'PatchAgent'].map(
    (name) => `components.schemas.${name}.properties.tools.items.enum: gone`,
  ),
  expect.stringContaining(SCENARIO),
];

/** Places in `now` where something of `was` is missing or another, such as `paths./api/agents.get`. */
function lossesOf(was: unknown, now: unknown, place: string): string[] {
  if (Array.isArray(was)) return lossesOfList(was, now, place);
  if (typeof was !== 'object' || was === null) {
    return Object.is(was, now)
      ? []
      : [`${place}: ${JSON.stringify(was)} became ${JSON.stringify(now)}`];
  }
  if (typeof now !== 'object' || now === null) return [`${place}: gone`];
  return Object.entries(was)
    .filter(([name]) => !IGNORED.has(name))
    .flatMap(([name, value]) =>
      lossesOf(value, (now as Record<string, unknown>)[name], `${place}.${name}`),
    );
}

/** Parameters are found by name, other entries by being equal or the nearest. */
function lossesOfList(was: readonly unknown[], now: unknown, place: string): string[] {
  if (!Array.isArray(now)) return [`${place}: gone`];
  return was.flatMap((entry) => {
    const tries = now.map((other) => lossesOf(entry, other, `${place}[${nameOf(entry)}]`));
    return tries.toSorted((a, b) => a.length - b.length)[0] ?? [`${place}: ${nameOf(entry)} gone`];
  });
}

function nameOf(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return String(entry);
  return 'name' in entry ? String(entry.name) : JSON.stringify(entry).slice(0, 60);
}

/** Fields that a request must have, as places such as `/api/agents post name`. */
function requiredOf(paths: unknown): string[] {
  return Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, operations]) =>
      Object.entries(operations).flatMap(([method, { requestBody, parameters = [] }]) => {
        const contents = Object.values(requestBody?.content ?? {});
        const fields = contents.flatMap(({ schema }) => schema?.required ?? []);
        const names = parameters.filter(({ required }) => required).map(({ name }) => name);
        return [...fields, ...names].map((name) => `${path} ${method} ${name}`);
      }),
  );
}

interface Scenarios {
  readonly InboundSandboxCall?: {
    readonly properties: { readonly scenario: { readonly pattern: string } };
  };
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema?: { readonly required?: readonly string[] } }>
    >;
  };
}

test('the OpenAPI document has every operation, field and value of the version before', async () => {
  const was = readPreviousOpenapi();

  const { paths, components } = await readDescription();

  expect(lossesOf(was.paths, paths, 'paths')).toEqual([]);
  expect(lossesOf(was.components, components, 'components')).toEqual(WIDENED);
});

test('a simulated caller may have every scenario of the version before', async () => {
  const patternOf = (document: object) => {
    const { components } = document as { readonly components: { readonly schemas: Scenarios } };
    const { schemas } = components;
    return schemas.InboundSandboxCall?.properties.scenario.pattern ?? '';
  };
  const was = patternOf(readPreviousOpenapi());

  const now = new RegExp(patternOf(await readDescription()));

  const names = was.replaceAll(/^\^\(\?:|\)\$$/g, '').split('|');
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => !now.test(name.replaceAll('\\d', '7')))).toEqual([]);
});

test('the OpenAPI document asks no more of a request than the version before', async () => {
  const before = readPreviousOpenapi().paths as Record<string, object>;
  const was = requiredOf(before);

  const { paths } = await readDescription();
  // Operations that are new may ask for anything.
  const known = Object.entries(paths).map(([path, operations]) => {
    const methods = Object.keys(before[path] ?? {});
    return [
      path,
      Object.fromEntries(Object.entries(operations).filter(([m]) => methods.includes(m))),
    ];
  });
  const now = requiredOf(Object.fromEntries(known));

  expect(was.length).toBeGreaterThan(20);
  expect(now.filter((place) => !was.includes(place))).toEqual([]);
});

test('every webhook vector of the version before is among those that the signer and the documented receiver are held to', () => {
  const before = JSON.parse(readPrevious('webhook-vectors.json')) as unknown[];

  expect(readVectors()).toEqual(expect.arrayContaining(before));
});

test('readConfig takes the .env.example of the version before, and means the same by it', () => {
  const text = readPrevious('env.example');

  const config = readConfig(parseEnv(text));

  const { PUBLIC_URL: _, ...defaults } = readConfig({});
  expect(config).toMatchObject(defaults);
});
