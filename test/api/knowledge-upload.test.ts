/** Documents of agents as files. */
import { expect, test } from 'vitest';
import { KNOWLEDGE_LIMITS } from '../../src/domain/knowledge/knowledge.ts';
import { type AnswerBody, FOREIGN_KEY, LIVE_KEY, openTestApi } from '../support/api/test-api.ts';
import { buildPdf } from '../support/knowledge/build-pdf.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const PATH = '/api/agents/agent_1/knowledge';

type Fields = readonly (readonly [field: string, value: string | File])[];

async function openWorld() {
  const api = await openTestApi();
  await api.store.agents.insert(buildAgent({ accountId: 'acct_main' }));
  const send = async (
    fields: Fields,
    { headers = {}, path = PATH, key = LIVE_KEY as string | null } = {},
  ) => {
    const form = new FormData();
    for (const [field, value] of fields) form.append(field, value);
    const authorization = key === null ? {} : { Authorization: `Bearer ${key}` };
    const init = { method: 'POST', body: form, headers: { ...authorization, ...headers } };
    const response = await api.fetch(new Request(`http://localhost${path}`, init));
    return { response, status: response.status, body: (await response.json()) as AnswerBody };
  };
  const textOf = async (id: string) => (await api.json('GET', `${PATH}/${id}`)).body;
  return { api, send, textOf };
}

const file = (content: string | Buffer, name: string, type = '') =>
  new File([new Uint8Array(Buffer.from(content))], name, { type });

test.each([
  ['text/plain', file('We open at nine.', 'hours.txt'), 'We open at nine.'],
  ['text/markdown', file('# Hours', 'hours.MD', 'application/octet-stream'), '# Hours'],
  ['text/html', file('<h2>Hours</h2>Nine.', 'hours.html'), '## Hours\n\nNine.'],
  ['text/plain', file('Nine.', 'hours', 'text/plain; charset=utf-8'), 'Nine.'],
  ['application/pdf', file(buildPdf([[[11, 700, 'Nine.']]]), 'hours.pdf'), 'Nine.'],
] as const)('a file of %s becomes a document with its name', async (mediaType, sent, text) => {
  const { send, textOf } = await openWorld();

  const { status, body, response } = await send([['file', sent]]);

  expect(status).toBe(201);
  expect(body).toMatchObject({ name: sent.name, mediaType, version: 1 });
  expect(response.headers.get('Location')).toBe(`${PATH}/${body.id}`);
  expect(await textOf(body.id)).toMatchObject({ text });
});

test('a file under the name of a document is its next version', async () => {
  const { api, send } = await openWorld();
  const body = { name: 'Hours', text: 'We open at nine.' };
  const first = await api.json('POST', PATH, { body });

  const second = await send([
    ['name', 'Hours'],
    ['file', file('We open at ten.', 'x.txt')],
  ]);

  expect(second.body).toMatchObject({ id: first.body.id, version: 2, mediaType: 'text/plain' });
});

test('the same file with one idempotency key is added once, another file is 422', async () => {
  const { send } = await openWorld();
  const headers = { 'X-Idempotency-Key': 'once' };

  const first = await send([['file', file('Nine.', 'a.txt')]], { headers });
  const again = await send([['file', file('Nine.', 'a.txt')]], { headers });
  const other = await send([['file', file('Ten.', 'a.txt')]], { headers });

  expect(again.body).toEqual(first.body);
  expect(again.response.headers.get('Idempotent-Replayed')).toBe('true');
  expect(other.status).toBe(422);
});

const TOO_LARGE = Buffer.alloc(KNOWLEDGE_LIMITS.fileBytesMax + 1, 'x');

test.each([
  ['no file', [['name', 'Hours']], 400, 'file: expected one file'],
  ['text in the place of a file', [['file', 'Nine.']], 400, 'file: expected one file'],
  [
    'two files',
    [
      ['file', file('a', 'a.txt')],
      ['file', file('b', 'b.txt')],
    ],
    400,
    'one file',
  ],
  [
    'a field that there is not',
    [
      ['file', file('a', 'a.txt')],
      ['url', 'x'],
    ],
    400,
    'url',
  ],
  [
    'a name of blanks',
    [
      ['file', file('a', 'a.txt')],
      ['name', ' '],
    ],
    400,
    'name',
  ],
  ['a file that is too large', [['file', file(TOO_LARGE, 'a.txt')]], 400, '10 MiB at most'],
  ['a kind that is not read', [['file', file('PK', 'a.docx')]], 422, 'expected text, Markdown'],
  ['too much text', [['file', file('x'.repeat(300_001), 'a.txt')]], 422, '300001 characters'],
  ['no text', [['file', file(' \n ', 'a.txt')]], 422, 'it has no text'],
  ['a damaged PDF', [['file', file('%PDF-1.7', 'a.pdf')]], 422, 'damaged'],
] as const)('%s is refused, with the reason', async (_case, fields, status, words) => {
  const { api, send } = await openWorld();

  const { status: got, body } = await send(fields);

  expect({ got, message: body.error.message }).toEqual({
    got: status,
    message: expect.stringContaining(words),
  });
  expect((await api.json('GET', PATH)).body.total).toBe(0);
});

test('a body that is no form is refused', async () => {
  const { api } = await openWorld();
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };

  const { status, body } = await api.json('POST', PATH, { text: 'junk', headers });

  expect(status).toBe(400);
  expect(body.error.message).toContain('expected multipart/form-data');
});

test('a file for an agent of another account is 404, without a key 401, elsewhere 400', async () => {
  const { send } = await openWorld();
  const fields = [['file', file('Nine.', 'a.txt')]] as const;

  expect((await send(fields, { key: FOREIGN_KEY })).body.error.code).toBe('AGENT_NOT_FOUND');
  expect((await send(fields, { key: null })).status).toBe(401);
  expect((await send(fields, { path: '/api/agents' })).status).toBe(400);
  expect((await send(fields, { path: `${PATH}?a=1` })).status).toBe(400);
});
