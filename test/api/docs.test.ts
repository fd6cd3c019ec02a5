import { describe, expect, test } from 'vitest';
import { curlExample } from '../../src/api/docs/curl-example.ts';
import { docsPage } from '../../src/api/docs/docs-page.ts';
import { fieldsOf } from '../../src/api/docs/fields.ts';
import { html, inline, prose } from '../../src/api/docs/html.ts';
import type { Description, JsonSchema } from '../../src/api/openapi/description.ts';
import { operationsOf } from '../../src/api/openapi/description.ts';
import { createHollowApi, readDescription } from '../support/api-description.ts';

const DESCRIPTION = await readDescription();

const PAGE = docsPage(DESCRIPTION);

/** Elements that have no end. */
const VOID = ['!doctype', 'meta', 'link'];

describe('GET /docs', () => {
  test('answers without a key, in HTML that may load its own style and nothing else', async () => {
    const response = await createHollowApi().request('/docs');

    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(await response.text()).toBe(PAGE);
  });

  test('is found with a slash behind it too, wherever a proxy has put it', async () => {
    const response = await createHollowApi().request('/docs/');

    expect([response.status, response.headers.get('Location')]).toEqual([308, '../docs']);
  });

  test('links only to this server, by addresses that it serves', async () => {
    const api = createHollowApi();
    const links = [...PAGE.matchAll(/(?:href|src)="([^"#][^"]*)"/g)].map(([, link]) => link ?? '');

    expect(new Set(links)).toEqual(new Set(['docs/style.css', 'api/openapi.json']));
    for (const link of links) expect((await api.request(`/${link}`)).status).toBe(200);
  });

  test('has no script and no style of its own', () => {
    expect(PAGE).not.toMatch(/<script|<style|<iframe|<img|\son\w+=|\sstyle=|javascript:/i);
  });

  test('shows every operation and every event once, and lists them in its contents', () => {
    const ids = [...PAGE.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id ?? '');
    const anchors = [...PAGE.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id ?? '');
    const operations = operationsOf(DESCRIPTION).map(({ docs }) => docs.operationId);
    const events = Object.keys(DESCRIPTION.webhooks).map((kind) => `event-${kind}`);

    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining([...operations, ...events, ...anchors]));
    expect(anchors).toEqual(expect.arrayContaining([...operations, ...events]));
  });

  test('closes every element that it opens', () => {
    const open: string[] = [];
    for (const [, end, name = ''] of PAGE.matchAll(/<(\/?)([!a-z][a-z0-9]*)[^>]*>/g)) {
      if (VOID.includes(name)) continue;
      if (end === '') open.push(name);
      else expect(open.pop()).toBe(name);
    }

    expect(open).toEqual([]);
  });

  test('has one first heading, and skips no rank', () => {
    const ranks = [...PAGE.matchAll(/<h(\d)/g)].map(([, rank]) => Number(rank));

    expect(ranks.filter((rank) => rank === 1)).toHaveLength(1);
    for (const [index, rank] of ranks.entries()) {
      expect(rank).toBeLessThanOrEqual((ranks[index - 1] ?? 0) + 2);
    }
  });
});

test('GET /docs/style.css answers with a style that loads nothing', async () => {
  const response = await createHollowApi().request('/docs/style.css');

  const text = await response.text();
  expect(response.headers.get('Content-Type')).toBe('text/css; charset=utf-8');
  expect(text).toContain('light-dark(');
  expect(text).not.toMatch(/url\(|@import|@font-face/);
});

test('docsPage lets no text of the document become markup', () => {
  const bad = `<img src=x onerror="alert('1')">`;
  const shown = ['summary', 'description', 'title', 'example', 'default', 'pattern'];
  const text = JSON.stringify(DESCRIPTION, (name, value) =>
    typeof value === 'string' && shown.includes(name) ? bad : value,
  );

  const page = docsPage(JSON.parse(text) as Description);

  expect(page).not.toContain('<img');
  expect(page).toContain('&#60;img src=x onerror=&#34;alert(');
});

test('docsPage leaves out groups without operations', () => {
  const tags = [...DESCRIPTION.tags, { name: 'Nothing', description: 'Has no operation.' }];

  expect(docsPage({ ...DESCRIPTION, tags })).toBe(PAGE);
});

test('html escapes what it is given, once, in elements and attributes', () => {
  const inner = html`<i title="${`"'>`}">${'<b>&'}</i>`;

  expect(html`<p>${inner}${[inner]}${1}</p>`.text).toBe(
    `<p>${'<i title="&#34;&#39;&#62;">&#60;b&#62;&#38;</i>'.repeat(2)}1</p>`,
  );
});

test('prose makes paragraphs, and code of what stands between backticks', () => {
  expect(html`${prose('One `a < b`.\n\nTwo.')}`.text).toBe(
    '<p>One <code>a &#60; b</code>.</p><p>Two.</p>',
  );
  expect(html`${inline('`a`')}`.text).toBe('<code>a</code>');
});

test('fieldsOf tells types, limits and defaults, also of what lies deeper', () => {
  const schema: JsonSchema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 1200, description: 'Any.' },
      kind: { type: ['string', 'null'], enum: ['a', 'b'] },
      limit: { type: 'integer', minimum: 0, default: 20 },
      tools: { type: 'array', maxItems: 3, items: { type: 'string', enum: ['x'] } },
      targets: {
        type: 'array',
        items: { type: 'object', properties: { label: { type: 'string', format: 'date' } } },
      },
    },
  };

  const fields = fieldsOf(schema, DESCRIPTION).map(({ path, type, facts }) => [path, type, facts]);

  expect(fields).toEqual([
    ['name', 'string', ['1 to 1,200 characters']],
    ['kind', 'string or null', ['`a`, `b`']],
    ['limit', 'integer', ['at least 0', 'default `20`']],
    ['tools', 'array of string', ['`x`', 'at most 3 items']],
    ['targets', 'array of object', []],
    ['targets[].label', 'string', ['date']],
  ]);
  expect(fieldsOf(schema, DESCRIPTION)[0]).toMatchObject({ isRequired: true, description: 'Any.' });
});

test('curlExample is a command with everything that a POST needs', () => {
  const operation = operationsOf(DESCRIPTION).find(({ docs }) => docs.operationId === 'createKey');
  if (operation === undefined) throw new Error('There is no createKey');

  expect(curlExample(operation, DESCRIPTION)).toBe(`curl -X POST 'https://voice.example/api/keys' \\
  -H 'Authorization: Bearer API_KEY' \\
  -H 'Content-Type: application/json' \\
  -H 'X-Idempotency-Key: 2f1b9a4e-3a52-4d5b-9f57-5a6e0d3b8c11' \\
  -d '{
  "name": "Booking site"
}'`);
});

test('curlExample quotes what a shell would take for its own', () => {
  const body: JsonSchema = {
    type: 'object',
    properties: { a: { type: 'string', example: "it's" } },
  };
  const path = '/api/calls/{callId}/events';
  const operation = { method: 'PUT', path, parameters: [], body, docs: { responses: {} } };

  const command = curlExample(operation, DESCRIPTION);

  expect(command).toContain(`'https://voice.example/api/calls/CALL_ID/events'`);
  expect(command).toContain(`"a": "it'\\''s"`);
});

const LIMIT = Number.MAX_SAFE_INTEGER;

test.each<[string, JsonSchema, readonly string[]]>([
  ['both bounds', { type: 'integer', minimum: 1, maximum: 5000 }, ['1 to 5,000']],
  ['one above', { type: 'integer', maximum: 5 }, ['at most 5']],
  ['one below', { type: 'integer', minimum: 5 }, ['at least 5']],
  ['none but those of JavaScript', { type: 'integer', minimum: -LIMIT, maximum: LIMIT }, []],
  ['the lower one of JavaScript', { type: 'integer', minimum: -LIMIT, maximum: 5 }, ['at most 5']],
  ['a length', { type: 'string', minLength: 1, maxLength: 9 }, ['1 to 9 characters']],
])('fieldsOf tells a field with %s', (_case, schema, facts) => {
  const [field] = fieldsOf({ type: 'object', properties: { one: schema } }, DESCRIPTION);

  expect(field?.facts).toEqual(facts);
});
