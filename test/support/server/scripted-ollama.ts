/** A language model that speaks Ollama's protocol and says what the test says. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What was said last in a call: by the caller, the agent or a tool. */
interface LastMessage {
  readonly role: string;
  readonly content: string;
}

/** An answer of the model: words, or one call of a tool. */
export type ScriptedAnswer =
  | { readonly content: string }
  | { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };

/** Starts one that ends with the test. @returns settings of a server that uses it. */
export async function startScriptedOllama(
  answerTo: (last: LastMessage) => ScriptedAnswer,
): Promise<Readonly<Record<string, string>>> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/api/chat') chat(Buffer.concat(chunks), response, answerTo);
      else response.end(JSON.stringify({ models: [MODEL], version: '0.9.0' }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { LLM: 'ollama', OLLAMA_HOST: `http://127.0.0.1:${port}`, OLLAMA_MODEL: 'script' };
}

const MODEL = { name: 'script:latest', model: 'script:latest' };

function chat(
  body: Buffer,
  response: ServerResponse,
  answerTo: (last: LastMessage) => ScriptedAnswer,
): void {
  const { messages } = JSON.parse(body.toString()) as { messages: readonly LastMessage[] };
  const answer = answerTo(messages.at(-1) ?? { role: 'user', content: '' });
  const said =
    'content' in answer
      ? answer
      : {
          content: '',
          tool_calls: [{ function: { name: answer.tool, arguments: answer.arguments } }],
        };
  const line = (message: object, done: boolean) =>
    `${JSON.stringify({ model: 'script', message: { role: 'assistant', ...message }, done })}\n`;
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.end(line(said, false) + line({ content: '' }, true));
}
