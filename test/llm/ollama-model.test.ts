/** The Ollama adapter against a server that speaks Ollama's protocol. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { LanguageModelError } from '../../src/llm/language-model.ts';
import { OllamaModel, strictLines } from '../../src/llm/ollama/ollama-model.ts';
import { collect, QUESTION, requestOf, TRANSFER } from './language-model.contract.ts';
import { describeServedModel } from './served-model.contract.ts';
import { type ModelServer, startModelServer } from './support/model-server.ts';
import { ollamaWire } from './support/wires.ts';

const LIMITS = { firstMs: 600, nextMs: 300 };
const open = (host: string) => new OllamaModel({ host, model: 'qwen3:4b', limits: LIMITS });

describeServedModel('OllamaModel', ollamaWire, open);

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer(ollamaWire);
});
afterEach(() => server.stop());

test('OllamaModel keeps the model loaded, does not let it think aloud, and shows it the tools', async () => {
  await collect(open(server.url).stream(requestOf(QUESTION, { tools: [TRANSFER] })));

  expect(server.questions[0]).toMatchObject({
    model: 'qwen3:4b',
    stream: true,
    think: false,
    keep_alive: -1,
    tools: [{ type: 'function', function: { name: 'transfer_call' } }],
  });
});

test('OllamaModel sends a tool call and its result back', async () => {
  const call = { id: 'call_1', name: 'transfer_call', arguments: { destination: 'sales' } };
  const request = requestOf(QUESTION, {
    messages: [
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'call_1', name: 'transfer_call', content: 'Not done.' },
    ],
  });

  await collect(open(server.url).stream(request));

  expect(server.questions[0]?.messages).toEqual([
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ function: { name: 'transfer_call', arguments: { destination: 'sales' } } }],
    },
    { role: 'tool', content: 'Not done.', tool_name: 'transfer_call' },
  ]);
});

test('OllamaModel tells how to get a model that the server does not have', async () => {
  const model = new OllamaModel({ host: server.url, model: 'llama4' });

  await expect(model.check()).rejects.toThrow('run "ollama pull llama4"');
});

test('OllamaModel lists models that answer, asks once of each, and lists one that cannot be asked about', async () => {
  const asked: string[] = [];
  const abilities: Readonly<Record<string, readonly string[] | undefined>> = {
    'bge-m3:latest': ['embedding'],
    'qwen3:4b': ['completion', 'tools'],
    'old:7b': undefined,
  };
  const ollama = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/api/tags') {
        const models = [...Object.keys(abilities), 'gone:1b'].map((name) => ({
          name,
          digest: 'd',
        }));
        response.end(JSON.stringify({ models }));
        return;
      }
      const { model } = JSON.parse(Buffer.concat(chunks).toString());
      asked.push(model);
      if (!(model in abilities)) response.statusCode = 404;
      response.end(JSON.stringify({ capabilities: abilities[model] }));
    });
  });
  await once(ollama.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void ollama.close());
  const model = open(`http://127.0.0.1:${(ollama.address() as AddressInfo).port}`);

  const names = await model.modelNames();
  await model.modelNames();
  await model.check();

  expect(names).toEqual(['qwen3:4b', 'old:7b', 'gone:1b']);
  expect(asked).toEqual(['bge-m3:latest', 'qwen3:4b', 'old:7b', 'gone:1b', 'gone:1b']);
});

test('OllamaModel has the model loaded ahead of the first call, with the window of the calls', async () => {
  await open(server.url)
    .load(new AbortController().signal)
    .catch(() => undefined);
  await collect(open(server.url).stream(requestOf(QUESTION)));

  const [loaded, asked] = server.questions;
  expect(loaded).toMatchObject({ model: 'qwen3:4b', keep_alive: -1, options: { num_ctx: 8192 } });
  expect(asked).toMatchObject({ keep_alive: -1, options: { num_ctx: 8192 } });
});

test('OllamaModel takes the size of the window from the settings', async () => {
  const model = new OllamaModel({ host: server.url, model: 'qwen3:4b', contextTokens: 4096 });

  await collect(model.stream(requestOf(QUESTION)));

  expect(model.contextTokens).toBe(4096);
  expect(server.questions[0]).toMatchObject({ options: { num_ctx: 4096 } });
});

test('OllamaModel asks for JSON by the schema itself', async () => {
  const schema = { type: 'object', properties: { intent: { type: 'string' } } };

  await collect(open(server.url).stream(requestOf(QUESTION, { schema })));

  expect(server.questions[0]?.format).toEqual(schema);
});

test.each([
  'rubbish',
  'fail',
] as const)('OllamaModel prints nothing of what was said when the server does this: %s', async (behaviour) => {
  const prints = (['log', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name));
  server.behaviour = behaviour;

  await collect(open(server.url).stream(requestOf(QUESTION))).catch(() => undefined);

  const printed = prints.flatMap((print) => print.mock.calls);
  for (const print of prints) print.mockRestore();
  expect(printed).toEqual([]);
});

/** Answers all requests alike; ends with the test. @returns its address. */
async function serverOf(type: string, body: string): Promise<string> {
  const other = createServer((_, response) => {
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void other.close());
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
}

test.each<[string, (model: OllamaModel) => Promise<unknown>]>([
  ['checked', (model) => model.check()],
  ['loaded', (model) => model.load(AbortSignal.timeout(5000))],
  ['asked', (model) => collect(model.stream(requestOf(QUESTION)))],
])('OllamaModel says of a server that sends web pages what it sends, when it is %s', async (_, use) => {
  const host = await serverOf('text/html; charset=utf-8', '<html>Open WebUI</html>');

  const used = use(open(host));

  await expect(used).rejects.toThrow(
    `Cannot use Ollama at "${host}": it sent text/html in the place of JSON`,
  );
  await expect(used).rejects.toBeInstanceOf(LanguageModelError);
});

test.each([
  'not JSON',
  '{"object":"list"}',
])('OllamaModel does not call a server late that answers otherwise than Ollama: %s', async (body) => {
  const host = await serverOf('application/json', body);

  const checked = open(host).check();

  await expect(checked).rejects.toThrow(
    `Cannot use Ollama at "${host}": it does not speak like Ollama; start it with "ollama serve", or set OLLAMA_HOST`,
  );
});

test('strictLines passes JSON lines unchanged however they are cut, and fails on anything else', async () => {
  const line = fc.oneof(fc.json(), fc.constant(''), fc.string());
  const isJson = (text: string) => {
    try {
      return text.trim() === '' || JSON.parse(text) !== undefined;
    } catch {
      // That it cannot be parsed is the answer.
      return false;
    }
  };

  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      const text = lines.join('\n');
      const bytes = new TextEncoder().encode(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_none, index) =>
        bytes.slice(index * size, (index + 1) * size),
      );
      const headers = { 'content-type': 'application/x-ndjson' };
      const response = new Response(ReadableStream.from(chunks), { headers });
      const read = strictLines(response, 'test').text();

      if (text.split('\n').every(isJson)) expect(await read).toBe(new TextDecoder().decode(bytes));
      else await expect(read).rejects.toThrow(LanguageModelError);
    }),
  );
});
