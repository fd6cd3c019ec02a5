/** How Ollama and OpenAI-compatible servers put answers on the wire. */
import type { Wire } from './model-server.ts';

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

/** @see Ollama API, "Generate a chat completion", streaming */
export const ollamaWire: Wire = {
  contentType: 'application/x-ndjson',
  health: { path: '/api/tags', body: { models: [{ name: 'qwen3:4b' }] } },
  words: (content) => line({ model: 'm', message: { role: 'assistant', content }, done: false }),
  toolCall: (name, args) => {
    const calls = [{ function: { name, arguments: args } }];
    const message = { role: 'assistant', content: '', tool_calls: calls };
    return line({ model: 'm', message, done: false });
  },
  end: () => line({ model: 'm', message: { role: 'assistant', content: '' }, done: true }),
  rubbish: () => '{"model":"m","mess\n',
};

/** @see OpenAI API reference, "Create chat completion", streaming; arguments come in fragments */
export const openAiWire: Wire = {
  contentType: 'text/event-stream',
  health: { path: '/v1/models', body: { data: [{ id: 'qwen3:4b' }] } },
  words: (content) => event({ choices: [{ delta: { content }, finish_reason: null }] }),
  toolCall: (name, args) => {
    const text = JSON.stringify(args);
    const first = { index: 0, id: 'call_a', type: 'function', function: { name, arguments: '' } };
    const pieces = text.match(/.{1,3}/gs) ?? [];
    const rest = pieces.map((piece) => ({ index: 0, function: { arguments: piece } }));
    return [first, ...rest]
      .map((fragment) => event({ choices: [{ delta: { tool_calls: [fragment] } }] }))
      .join('');
  },
  end: () => `${event({ choices: [{ delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
  rubbish: () => 'data: {"choices": [{"del\n\n',
};
