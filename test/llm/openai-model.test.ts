/** The OpenAI-compatible adapter against a server that speaks that protocol. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  OpenAiModel,
  readChunk,
  readEvents,
  ToolCallJoiner,
} from '../../src/llm/openai/openai-model.ts';
import { collect, QUESTION, requestOf, TRANSFER } from './language-model.contract.ts';
import { describeServedModel } from './served-model.contract.ts';
import { type ModelServer, startModelServer } from './support/model-server.ts';
import { openAiWire } from './support/wires.ts';

const LIMITS = { firstMs: 600, nextMs: 300 };
const open = (url: string) =>
  new OpenAiModel({ baseUrl: `${url}/v1`, model: 'qwen3:4b', apiKey: 'secret', limits: LIMITS });

describeServedModel('OpenAiModel', openAiWire, open);

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer(openAiWire);
});
afterEach(() => server.stop());

test('OpenAiModel sends tools, and tool results with their ids', async () => {
  const call = { id: 'call_1', name: 'transfer_call', arguments: { destination: 'sales' } };
  const request = requestOf(QUESTION, {
    tools: [TRANSFER],
    messages: [
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'call_1', name: 'transfer_call', content: 'Not done.' },
    ],
  });

  await collect(open(server.url).stream(request));

  expect(server.questions[0]).toMatchObject({
    stream: true,
    tools: [{ type: 'function', function: { name: 'transfer_call' } }],
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'transfer_call' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Not done.' },
    ],
  });
});

test('OpenAiModel asks for JSON by schema', async () => {
  server.behaviour = 'json';
  const schema = { type: 'object', properties: { intent: { type: 'string' } } };

  await collect(open(server.url).stream(requestOf(QUESTION, { schema })));

  expect(server.questions[0]?.response_format).toMatchObject({
    type: 'json_schema',
    json_schema: { schema },
  });
});

test('readEvents yields the same events however the bytes are cut', async () => {
  const text = ': hello\r\n\r\ndata: {"a":"é€"}\r\n\r\ndata: two\ndata: lines\n\ndata: [DONE]\n\n';
  const bytes = new TextEncoder().encode(text);

  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
      const ends = [...cuts, bytes.length].sort((one, other) => one - other);
      const chunks = ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
      const events: string[] = [];
      for await (const event of readEvents(streamOf(chunks))) events.push(event);

      expect(events).toEqual(['{"a":"é€"}', 'two\nlines', '[DONE]']);
    }),
  );
});

test('readChunk refuses whatever is no chunk with an error, and nothing else', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (data) => {
      try {
        expect(readChunk(data).text).toBeTypeOf('string');
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
    }),
  );
});

test.each([
  ['an array that does not end', '[1'],
  ['not JSON', '{"name": Maria}'],
  ['a text', '"Maria"'],
])('ToolCallJoiner passes on a call whose arguments are %s, without their words', (_, text) => {
  const joiner = new ToolCallJoiner();
  joiner.add([{ index: 0, id: 'a', function: { name: 'book', arguments: text } }]);

  const calls = joiner.finish();

  expect(calls).toEqual([{ id: 'a', name: 'book', arguments: {}, isMalformed: true }]);
});

async function* streamOf(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks;
}

test('OpenAiModel does not take an answer for whole that ends without its last chunk', async () => {
  const chunk = { choices: [{ delta: { content: 'We open at' } }] };
  // The stream itself ends in order: only the protocol says that something is missing.
  const cut = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  await new Promise<void>((resolve) => cut.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void cut.close());
  const { port } = cut.address() as AddressInfo;

  const answer = collect(open(`http://127.0.0.1:${port}`).stream(requestOf(QUESTION)));

  await expect(answer).rejects.toThrow('its answer was cut off');
});
