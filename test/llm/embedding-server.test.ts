/** Embedding models at the wire: both protocols, and servers that answer with something else. */
import { expect, test } from 'vitest';
import { EmbeddingServer } from '../../src/llm/embeddings/embedding-server.ts';
import { startEmbeddings } from '../support/knowledge/embedding-double.ts';

const signal = new AbortController().signal;

test.each([
  ['ollama', '', '/api/embed'],
  ['openai', '/v1/', '/v1/embeddings'],
] as const)('a model behind %s gives vectors of length 1, in the order of the texts', async (protocol, path, asked) => {
  const server = await startEmbeddings();
  const options = { protocol, url: `${server.url}${path}`, model: 'tiny', apiKey: 'a-key' };

  const vectors = await new EmbeddingServer(options).embed(['What does it cost?', 'A dog.'], {
    role: 'query',
    signal,
  });

  expect(vectors.map((vector) => vector.indexOf(Math.max(...vector)))).toEqual([0, 2]);
  for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  expect(server.requests).toMatchObject([
    {
      path: asked,
      authorization: 'Bearer a-key',
      model: 'tiny',
      input: ['What does it cost?', 'A dog.'],
    },
  ]);
});

test.each([
  ['nomic-embed-text:v1.5', 'search_query: Tea', 'search_document: Tea'],
  ['intfloat/multilingual-e5-small', 'query: Tea', 'passage: Tea'],
  ['all-minilm', 'Tea', 'Tea'],
])('the model %s gets the words before a text that it wants', async (model, query, passage) => {
  const server = await startEmbeddings();
  const embedder = new EmbeddingServer({ protocol: 'ollama', url: server.url, model });

  await embedder.embed(['Tea'], { role: 'query', signal });
  await embedder.embed(['Tea'], { role: 'passage', signal });

  expect(server.requests.map(({ input }) => input[0])).toEqual([query, passage]);
});

test.each([
  ['no JSON', 'secret words', 'vectors of another form'],
  ['another form', '{"error":"secret words"}', 'vectors of another form'],
  ['fewer vectors', '{"embeddings":[[1,0]]}', 'vectors of another number'],
  ['vectors of several lengths', '{"embeddings":[[1,0],[1]]}', 'vectors of another number'],
  ['a vector of zeros', '{"embeddings":[[1,0],[0,0]]}', 'vectors without a direction'],
  ['a vector of words', '{"embeddings":[[1,0],["secret words",0]]}', 'vectors of another form'],
])('a server that answers with %s is an error without the words of it', async (_case, body, reason) => {
  const server = await startEmbeddings((response) => {
    response.end(body);
    return true;
  });
  const embedder = new EmbeddingServer({ protocol: 'ollama', url: server.url, model: 'tiny' });

  const failure = await embedder
    .embed(['one', 'two'], { role: 'query', signal })
    .catch((error: unknown) => error);

  expect(failure).toMatchObject({ name: 'LanguageModelError' });
  expect(String(failure)).toContain(reason);
  expect(String(failure)).not.toContain('secret');
});

test('an error of the server names it and the status', async () => {
  const server = await startEmbeddings((response) => {
    response.writeHead(404).end('model not found');
    return true;
  });
  const embedder = new EmbeddingServer({ protocol: 'ollama', url: server.url, model: 'tiny' });

  const asked = embedder.embed(['one'], { role: 'query', signal });

  await expect(asked).rejects.toThrow(`Cannot use embeddings at "${server.url}": it answered 404`);
});

test('the error of a server whose words do not end is told from their beginning', async () => {
  const server = await startEmbeddings((response) => {
    response.writeHead(500).write('out of memory '.repeat(100));
    return true;
  });
  const embedder = new EmbeddingServer({ protocol: 'ollama', url: server.url, model: 'tiny' });

  const asked = embedder.embed(['one'], { role: 'query', signal });

  await expect(asked).rejects.toThrow(`Cannot use embeddings at "${server.url}": it answered 500`);
});

test('an aborted request is closed at the server', async () => {
  const server = await startEmbeddings(() => true);
  const embedder = new EmbeddingServer({ protocol: 'ollama', url: server.url, model: 'tiny' });
  const end = new AbortController();

  const asked = embedder.embed(['one'], { role: 'query', signal: end.signal });
  await expect.poll(() => server.requests.length).toBe(1);
  end.abort(new Error('too late'));

  await expect(asked).rejects.toThrow('too late');
  await expect.poll(server.closed).toBe(1);
});
