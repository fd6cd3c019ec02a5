/** A language model that calls tools over the wire of Ollama or of OpenAI-compatible servers: in pieces, several at once, broken off. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** One call of a tool. */
export interface WireCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the model does with a question. */
export type WireAnswer =
  | { readonly kind: 'says'; readonly text: string }
  | { readonly kind: 'calls'; readonly calls: readonly WireCall[] }
  /** Says the beginning, and the connection is cut in mid-answer, with half a call on the wire where the protocol has pieces. */
  | { readonly kind: 'breaks-off'; readonly text: string; readonly call: WireCall };

export interface WireMessage {
  readonly role: string;
  readonly content: string | null;
}

interface Protocol {
  readonly path: string;
  readonly contentType: string;
  readonly models: object;
  text(content: string): string;
  /** The calls as they stream, in at least one piece each. */
  calls(calls: readonly WireCall[]): readonly string[];
  end(hasCalls: boolean): string;
  settings(address: string): Readonly<Record<string, string>>;
}

const MODEL = 'caller-of-tools';
const line = (message: object, done = false) =>
  `${JSON.stringify({ model: MODEL, message: { role: 'assistant', content: '', ...message }, done })}\n`;
const event = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** @see Ollama API, "Generate a chat completion", streaming: a call is whole in one line */
const OLLAMA: Protocol = {
  path: '/api/chat',
  contentType: 'application/x-ndjson',
  models: { models: [{ name: `${MODEL}:latest`, model: `${MODEL}:latest` }], version: '0.9.0' },
  text: (content) => line({ content }),
  calls: (calls) => calls.map((call) => line({ tool_calls: [{ function: call }] })),
  end: () => line({}, true),
  settings: (address) => ({ LLM: 'ollama', OLLAMA_HOST: address, OLLAMA_MODEL: MODEL }),
};

/** @see OpenAI API reference, "Create chat completion", streaming: arguments come in fragments, those of several calls mixed */
const OPENAI: Protocol = {
  path: '/v1/chat/completions',
  contentType: 'text/event-stream',
  models: { object: 'list', data: [{ id: MODEL, object: 'model' }] },
  text: (content) => event({ content }),
  calls: (calls) => {
    const heads = calls.map(({ name }, index) => {
      const id = `call_${index}`;
      return { index, id, type: 'function', function: { name, arguments: '' } };
    });
    const texts = calls.map((call) => JSON.stringify(call.arguments).match(/.{1,3}/gs) ?? []);
    const rounds = Math.max(...texts.map((pieces) => pieces.length));
    const rest = Array.from({ length: rounds }, (_, round) =>
      texts.flatMap((pieces, index) => {
        const piece = pieces[round];
        return piece === undefined ? [] : [{ index, function: { arguments: piece } }];
      }),
    ).flat();
    return [...heads, ...rest].map((fragment) => event({ tool_calls: [fragment] }));
  },
  end: (hasCalls) => `${event({}, hasCalls ? 'tool_calls' : 'stop')}data: [DONE]\n\n`,
  settings: (address) => ({
    LLM: 'openai',
    OPENAI_BASE_URL: `${address}/v1`,
    OPENAI_MODEL: MODEL,
  }),
};

export const PROTOCOLS = { ollama: OLLAMA, openai: OPENAI } as const;

/** Starts one that ends with the test. @returns settings of a server that uses it */
export async function startToolCallingModel(
  protocol: Protocol,
  answerTo: (messages: readonly WireMessage[]) => WireAnswer,
): Promise<Readonly<Record<string, string>>> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== protocol.path) {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(protocol.models));
        return;
      }
      const { messages } = JSON.parse(Buffer.concat(chunks).toString());
      void send(protocol, response, answerTo(messages));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return protocol.settings(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

async function send(protocol: Protocol, response: ServerResponse, answer: WireAnswer) {
  response.writeHead(200, { 'content-type': protocol.contentType });
  const pieces = piecesOf(protocol, answer);
  for (const piece of pieces) {
    response.write(piece);
    // Each arrives by itself.
    await sleep(2);
  }
  if (answer.kind === 'breaks-off') response.destroy();
  else response.end(protocol.end(answer.kind === 'calls'));
}

function piecesOf(protocol: Protocol, answer: WireAnswer): readonly string[] {
  if (answer.kind === 'calls') return protocol.calls(answer.calls);
  const words = answer.text.split(/(?<= )/).map(protocol.text);
  if (answer.kind === 'says') return words;
  const call = protocol.calls([answer.call]);
  return [...words, ...call.slice(0, Math.floor(call.length / 2))];
}
