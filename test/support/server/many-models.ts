/** A server that speaks Ollama's protocol and has several models, each of which says its name. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a model was asked. */
export interface ModelQuestion {
  readonly model: string;
  /** False for a prompt that is read ahead. */
  readonly stream: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export interface ManyModels {
  /** Models as their tags; one that is taken out is 404 from then on. */
  readonly names: Set<string>;
  /** Bodies of `/api/chat`, also of models that are not there. */
  readonly questions: readonly ModelQuestion[];
  /** Of a server that uses it, with the first model as its own. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): void;
}

/** Starts one; the caller stops it. */
export async function openManyModels(names: readonly string[]): Promise<ManyModels> {
  const questions: ModelQuestion[] = [];
  const there = new Set(names);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    if (request.url !== '/api/chat') return list(response, there);
    const question: ModelQuestion = JSON.parse(body);
    questions.push(question);
    if (there.has(question.model)) answer(response, question);
    else refuse(response, question);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    names: there,
    questions,
    settings: {
      LLM: 'ollama,scripted',
      OLLAMA_HOST: `http://127.0.0.1:${port}`,
      OLLAMA_MODEL: names[0] ?? '',
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** As `openManyModels`; it ends with the test. */
export async function startManyModels(names: readonly string[]): Promise<ManyModels> {
  const models = await openManyModels(names);
  onTestFinished(() => models.stop());
  return models;
}

function list(response: ServerResponse, names: ReadonlySet<string>): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ models: [...names].map((name) => ({ name, model: name })) }));
}

/** @see Ollama API, "Generate a chat completion": one line a token, one object where `stream` is false */
function answer(response: ServerResponse, { model, stream }: ModelQuestion): void {
  const line = (content: string, done: boolean) =>
    `${JSON.stringify({ model, message: { role: 'assistant', content }, done })}\n`;
  response.setHeader('content-type', stream ? 'application/x-ndjson' : 'application/json');
  if (stream) response.write(line(`This is ${model}.`, false));
  response.end(line('', true));
}

function refuse(response: ServerResponse, { model }: ModelQuestion): void {
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: `model "${model}" not found, try pulling it first` }));
}
