/** Tool calls that a model writes as text: what is read as a call, and what is not. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writtenToolCall } from '../../src/conversation/reply/llm-stream.ts';

const TOOLS = ['end_call', 'transfer_call'].map((name) => ({
  ...{ name, description: name },
  parameters: { type: 'object', properties: {} },
}));

const SALES = { destination: 'sales' };

test.each([
  ['a bare object', '{"name": "transfer_call", "arguments": {"destination": "sales"}}'],
  ['parameters', '{"name": "transfer_call", "parameters": {"destination": "sales"}}'],
  ['arguments as text', '{"name":"transfer_call","arguments":"{\\"destination\\":\\"sales\\"}"}'],
  [
    'OpenAI’s form',
    '{"type":"function","function":{"name":"transfer_call","arguments":{"destination":"sales"}}}',
  ],
  ['a list of one', '[{"name":"transfer_call","arguments":{"destination":"sales"}}]'],
  [
    'a code fence',
    '```json\n{"tool": "transfer_call", "arguments": {"destination": "sales"}}\n```',
  ],
  [
    'a tag',
    '<tool_call>\n{"name":"transfer_call","arguments":{"destination":"sales"}}\n</tool_call>',
  ],
])('writtenToolCall reads %s', (_form, text) => {
  expect(writtenToolCall(text, TOOLS)).toMatchObject({ name: 'transfer_call', arguments: SALES });
});

test('writtenToolCall takes a call without arguments', () => {
  expect(writtenToolCall('{"name":"end_call"}', TOOLS)).toMatchObject({ arguments: {} });
});

test.each([
  ['a tool that was not offered', '{"name":"send_money","arguments":{}}'],
  ['words before it', 'Goodbye. {"name":"end_call","arguments":{}}'],
  ['two calls', '[{"name":"end_call"},{"name":"end_call"}]'],
  ['arguments that are a list', '{"name":"end_call","arguments":[1]}'],
  ['other JSON', '{"hours":"nine to five"}'],
  ['half of it', '{"name":"end_call","argu'],
  ['nothing', ''],
])('writtenToolCall does not take %s', (_what, text) => {
  expect(writtenToolCall(text, TOOLS)).toBeNull();
});

test('writtenToolCall takes any text without failing', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(writtenToolCall(text, TOOLS)).toBeNull();
    }),
  );
});
