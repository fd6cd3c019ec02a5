/** How Ollama and OpenAI-compatible servers put answers on the wire. */
import { PROMPT_TOKENS, type Wire } from './model-server.ts';

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

const OLLAMA_LAST = { model: 'm', message: { role: 'assistant', content: '' }, done: true };

/** @see Ollama API, "Generate a chat completion", streaming */
export const ollamaWire: Wire = {
  contentType: 'application/x-ndjson',
  health: { path: '/api/tags', body: { models: [{ name: 'qwen3:4b' }] } },
  abilities: { path: '/api/show', body: { capabilities: ['completion', 'tools'] } },
  words: (content) => line({ model: 'm', message: { role: 'assistant', content }, done: false }),
  toolCall: (name, args) => {
    const calls = [{ function: { name, arguments: args } }];
    const message = { role: 'assistant', content: '', tool_calls: calls };
    return line({ model: 'm', message, done: false });
  },
  end: (tokens = PROMPT_TOKENS) => line({ ...OLLAMA_LAST, prompt_eval_count: tokens }),
  rubbish: () => '{"model":"m","mess\n',
  whole: () => JSON.stringify(OLLAMA_LAST),
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
  end: (tokens = PROMPT_TOKENS) => {
    const last = event({ choices: [{ delta: {}, finish_reason: 'stop' }] });
    const usage = event({ choices: [], usage: { prompt_tokens: tokens } });
    return `${last}${usage}data: [DONE]\n\n`;
  },
  rubbish: () => 'data: {"choices": [{"del\n\n',
  whole: () => JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'a' } }] }),
};
