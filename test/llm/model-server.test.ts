/** Faults of model servers, in words for the operator. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { OllamaModel } from '../../src/llm/ollama/ollama-model.ts';
import { OpenAiModel } from '../../src/llm/openai/openai-model.ts';
import { collect, QUESTION, requestOf } from './language-model.contract.ts';

/** A server that answers each request with one status and body, or with the beginning of an answer. @returns its URL. */
async function serve(
  status: number,
  body: string,
  { isCut = false, type = 'application/x-ndjson' } = {},
): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': type });
    if (isCut) response.write(body, () => response.destroy());
    else response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const askOllama = (host: string) =>
  collect(new OllamaModel({ host, model: 'm' }).stream(requestOf(QUESTION)));

test.each([
  [
    '{"error":"model requires more system memory (8.0 GiB) than is available (3.1 GiB)"}',
    'it answered 500: model requires more system memory (8.0 GiB) than is available (3.1 GiB)',
  ],
  ['{"error":{"message":"no\\nslot  is\\u0007 free"}}', 'it answered 500: no slot is free'],
  ['{"detail":"Not Found"}', 'it answered 500: Not Found'],
  ['<html>502 Bad Gateway</html>', 'it answered 500'],
  ['', 'it answered 500'],
  [JSON.stringify({ error: 'x'.repeat(900) }), `it answered 500: ${'x'.repeat(200)}`],
])('the error of a model server that answers %s has its words', async (body, expected) => {
  const url = await serve(500, body);

  await expect(askOllama(url)).rejects.toThrow(
    new RegExp(`: ${expected.replaceAll(/[()]/g, '\\$&')}$`),
  );
});

test('the error of a model server that refuses a request has none of its words, which may be the caller’s', async () => {
  const url = await serve(400, '{"error":"invalid message: my number is 12025550123"}');

  await expect(askOllama(url)).rejects.toThrow(/: it answered 400$/);
});

test('the error of a model server that repeats the key which it refuses does not have that key', async () => {
  const baseUrl = await serve(
    401,
    '{"error":{"message":"Incorrect API key provided: sk-secret."}}',
  );
  const model = new OpenAiModel({ baseUrl, model: 'm', apiKey: 'sk-secret' });

  await expect(collect(model.stream(requestOf(QUESTION)))).rejects.toThrow(
    'it answered 401: Incorrect API key provided: ….',
  );
});

test('the error of a connection that ends in mid-answer says so', async () => {
  const url = await serve(200, '{"message":{"role":"assistant","content":"We"},"done":false}\n', {
    isCut: true,
  });

  await expect(askOllama(url)).rejects.toThrow('"ollama/m": the connection broke off');
});

test.each([
  [
    'text/html',
    '<html>Sign in</html>',
    'it sent text/html in the place of an event stream; see OPENAI_BASE_URL',
  ],
  [
    'text/event-stream',
    'data: {"error":{"message":"CUDA out of memory"}}\n\n',
    'the server failed while answering: CUDA out of memory',
  ],
])('the error of an OpenAI-compatible server that answers 200 and %s says why', async (type, body, expected) => {
  const model = new OpenAiModel({ baseUrl: await serve(200, body, { type }), model: 'm' });

  await expect(collect(model.stream(requestOf(QUESTION)))).rejects.toThrow(expected);
});
