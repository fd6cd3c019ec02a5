/** Ollama's pull, against a double that speaks its protocol at the wire. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { pullOllamaModel } from '../../src/model-store/download-models.ts';
import { testSource } from './support/download-world.ts';

type Answer = (response: ServerResponse) => void;

interface Double {
  readonly host: string;
  readonly bodies: unknown[];
  readonly closed: Promise<void>;
}

/** @param has names of models it has. */
async function ollamaDouble(has: readonly string[], pull: Answer): Promise<Double> {
  const bodies: unknown[] = [];
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  const server = createServer((request: IncomingMessage, response) => {
    if (request.url === '/api/tags') {
      response.end(JSON.stringify({ models: has.map((name) => ({ name })) }));
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      bodies.push([request.method, request.url, JSON.parse(Buffer.concat(parts).toString())]);
      response.on('close', () => onClosed());
      pull(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { host: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, closed };
}

const lines = (...objects: object[]) => objects.map((line) => `${JSON.stringify(line)}\n`).join('');

function pullFrom(host: string, changes: object = {}) {
  const told: [number, number][] = [];
  const done = pullOllamaModel({
    host,
    model: 'tiny:1b',
    dispatcher: testSource().dispatcher,
    signal: new AbortController().signal,
    onBytes: (bytes, total) => told.push([bytes, total]),
    ...changes,
  });
  return { done, told };
}

const LAYERS = lines(
  { status: 'pulling manifest' },
  { status: 'pulling aa', digest: 'sha256:aa', total: 100, completed: 40 },
  { status: 'pulling bb', digest: 'sha256:bb', total: 10 },
  { status: 'pulling aa', digest: 'sha256:aa', total: 100, completed: 100 },
  { status: 'verifying sha256 digest' },
  { status: 'success' },
);

test('pullOllamaModel asks for the model, and adds up how far its layers are', async () => {
  const { host, bodies } = await ollamaDouble([], (response) => {
    // Cut in the middle of a line, as sockets do.
    response.write(LAYERS.slice(0, 90));
    setTimeout(() => response.end(LAYERS.slice(90)), 10);
  });

  const { done, told } = pullFrom(host);

  expect(await done).toBe('downloaded');
  expect(bodies).toEqual([['POST', '/api/pull', { model: 'tiny:1b', stream: true }]]);
  expect(told).toEqual([
    [40, 100],
    [40, 110],
    [100, 110],
  ]);
});

test('pullOllamaModel leaves a model alone that is there', async () => {
  const { host, bodies } = await ollamaDouble(['tiny:1b'], (response) => response.end());

  expect(await pullFrom(host).done).toBe('was-there');

  expect(bodies).toEqual([]);
});

test.each([
  [
    'says that it failed',
    lines({ error: 'pull model manifest: file does not exist' }),
    'file does not exist',
  ],
  ['ends without success', lines({ status: 'pulling manifest' }), 'broke off'],
  ['speaks no JSON', '<html>', 'does not speak like Ollama'],
])('pullOllamaModel fails when Ollama %s', async (_, text, why) => {
  const { host } = await ollamaDouble([], (response) => response.end(text));

  const { done } = pullFrom(host);

  await expect(done).rejects.toMatchObject({ failure: 'network' });
  await expect(done).rejects.toThrow(why);
});

test('pullOllamaModel says how to start Ollama where nothing listens', async () => {
  const { done } = pullFrom('http://127.0.0.1:1');

  await expect(done).rejects.toThrow('nothing listens there');
  await expect(done).rejects.toThrow('ollama serve');
});

test('pullOllamaModel gives up on an Ollama that says no more', async () => {
  const { host } = await ollamaDouble([], (response) => {
    response.write(lines({ status: 'pulling manifest' }));
  });

  const dispatcher = new Agent({ bodyTimeout: 100 });
  onTestFinished(() => dispatcher.destroy());
  const { done } = pullFrom(host, { dispatcher });

  await expect(done).rejects.toThrow('nothing came for');
});

test('pullOllamaModel closes its connection when it is stopped', async () => {
  const stopping = new AbortController();
  const { host, closed } = await ollamaDouble([], (response) => {
    response.write(lines({ status: 'pulling aa', digest: 'sha256:aa', total: 9, completed: 1 }));
  });

  const { done } = pullFrom(host, {
    signal: stopping.signal,
    onBytes: () => stopping.abort(),
  });

  await expect(done).rejects.toMatchObject({ failure: 'cancelled' });
  await closed;
});
