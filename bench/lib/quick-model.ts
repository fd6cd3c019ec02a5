/** A language model server that speaks Ollama's protocol and is quick: its first words come after a fixed time, all others with them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Its name, for `OLLAMA_MODEL`. */
export const QUICK_MODEL = 'quick';

const ANSWER = 'From nine to five every day.';

/** Starts one. @returns its address, for `OLLAMA_HOST`. */
export async function startQuickModel(
  firstWordMs: number,
): Promise<{ readonly address: string; stop(): void }> {
  const server = createServer((request, response) => {
    answer(request, response, firstWordMs).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  firstWordMs: number,
): Promise<void> {
  for await (const _piece of request);
  if (request.url !== '/api/chat') {
    const model = { name: `${QUICK_MODEL}:latest`, model: `${QUICK_MODEL}:latest` };
    response.end(JSON.stringify({ models: [model], version: '0.9.0' }));
    return;
  }
  await sleep(firstWordMs);
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  for (const content of ANSWER.split(/(?<= )/)) response.write(line(content, false));
  response.end(line('', true));
}

function line(content: string, done: boolean): string {
  const message = { role: 'assistant', content };
  return `${JSON.stringify({ model: QUICK_MODEL, message, done })}\n`;
}
