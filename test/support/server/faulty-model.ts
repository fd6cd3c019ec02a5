/** A server that speaks Ollama's protocol and fails in twenty-four ways; an agent's system prompt names the way. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const ANSWER = 'We are open from nine to five every day. Do come and see us.';
const WORDS = ANSWER.split(/(?<= )/);

/** The model's name, for `OLLAMA_MODEL`. */
export const FAULTY_MODEL = 'faulty';

/** The words of the caller that meet the fault; all others are answered well. */
const MEETS_FAULT = /opening hours/i;

/** Longer than any call of a test. */
const STALL_MS = 120_000;

/** One answer, as it streams. */
class Answer {
  readonly response: ServerResponse;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  begin(status = 200): void {
    this.response.writeHead(status, { 'content-type': 'application/x-ndjson' });
    this.response.flushHeaders();
  }

  say(content: string): void {
    this.#message({ role: 'assistant', content });
  }

  call(name: string, args: unknown): void {
    this.#message({
      ...{ role: 'assistant', content: '' },
      tool_calls: [{ function: { name, arguments: args } }],
    });
  }

  end(): void {
    const message = { role: 'assistant', content: '' };
    this.response.end(`${JSON.stringify({ model: FAULTY_MODEL, message, done: true })}\n`);
  }

  refuse(status: number): void {
    this.response.writeHead(status, { 'content-type': 'application/json' });
    this.response.end(JSON.stringify({ error: `it is a ${status}` }));
  }

  async sayAll(words: readonly string[], pauseMs: number): Promise<void> {
    for (const word of words) {
      if (this.response.destroyed) return;
      this.say(word);
      await sleep(pauseMs);
    }
  }

  #message(message: Readonly<Record<string, unknown>>): void {
    this.response.write(`${JSON.stringify({ model: FAULTY_MODEL, message, done: false })}\n`);
  }
}

type Fault = (answer: Answer) => Promise<void> | void;

const answerWell: Fault = async (answer) => {
  answer.begin();
  await answer.sayAll(WORDS, 10);
  answer.end();
};

/** Answers after a pause, with a pause after each word. */
const slowly =
  (firstMs: number, nextMs: number): Fault =>
  async (answer) => {
    answer.begin();
    await sleep(firstMs);
    await answer.sayAll(WORDS, nextMs);
    answer.end();
  };

/** Says something, waits, and says the rest. */
const stallsAfter =
  (words: number, pauseMs: number): Fault =>
  async (answer) => {
    answer.begin();
    await answer.sayAll(WORDS.slice(0, words), 10);
    await sleep(pauseMs);
    await answer.sayAll(WORDS.slice(words), 10);
    answer.end();
  };

const says =
  (text: string): Fault =>
  async (answer) => {
    answer.begin();
    await answer.sayAll(text.split(/(?<= )/), 5);
    answer.end();
  };

/** By what the model does. */
export const MODEL_FAULTS: Readonly<Record<string, Fault>> = {
  'closes the connection': ({ response }) => void response.destroy(),
  'answers 500 at once': (answer) => answer.refuse(500),
  'answers 500 after 3 s': async (answer) => {
    await sleep(3000);
    answer.refuse(500);
  },
  'is not there (404)': (answer) => answer.refuse(404),
  'never answers': () => sleep(STALL_MS),
  'sends nothing but headers': async (answer) => {
    answer.begin();
    await sleep(STALL_MS);
  },
  'gives its first word after 3 s': slowly(3000, 10),
  'gives its first word after 6 s': slowly(6000, 10),
  'gives a word every 0.9 s': slowly(900, 900),
  'gives a word every 2.5 s': slowly(10, 2500),
  'stalls for good after a word': stallsAfter(1, STALL_MS),
  'stalls for good after a sentence': stallsAfter(9, STALL_MS),
  'stalls for 5 s in mid-sentence': stallsAfter(4, 5000),
  'breaks off before its first word': async (answer) => {
    answer.begin();
    await sleep(500);
    answer.response.destroy();
  },
  'breaks off in mid-sentence': async (answer) => {
    answer.begin();
    await answer.sayAll(WORDS.slice(0, 5), 10);
    answer.response.destroy();
  },
  'sends broken JSON': (answer) => {
    answer.begin();
    answer.response.end('{"model":"faulty","mess\n');
  },
  'answers with nothing': says(''),
  'answers with white space': says(' \n \n '),
  'only thinks for 10 s': async (answer) => {
    answer.begin();
    answer.say('<think>');
    await answer.sayAll(Array(40).fill('Hm, '), 250);
    answer.end();
  },
  'writes a call of no tool of ours': says('{"name": "send_money", "arguments": {"to": "me"}}'),
  'calls a tool that does not exist': (answer) => {
    answer.begin();
    answer.call('send_money', {});
    answer.end();
  },
  'calls a tool with arguments that are none': (answer) => {
    answer.begin();
    answer.call('transfer_call', 'not JSON');
    answer.end();
  },
  'answers with a code block': says('```python\nprint("nine to five")\n```'),
  'repeats one word without end': says('so '.repeat(3000)),
};

/** Starts the server. @returns its address, for `OLLAMA_HOST`. */
export async function startFaultyModel(): Promise<{
  readonly address: string;
  stop(): void;
}> {
  const server: Server = createServer((request, response) => {
    void take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Chat {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  if (request.url !== '/api/chat') {
    const model = { name: `${FAULTY_MODEL}:latest`, model: `${FAULTY_MODEL}:latest` };
    response.end(JSON.stringify({ models: [model], version: '0.9.0' }));
    return;
  }
  const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as Chat;
  const asked = messages.findLast(({ role }) => role !== 'system')?.content ?? '';
  const prompt = messages.find(({ role }) => role === 'system')?.content ?? '';
  const [, fault] = Object.entries(MODEL_FAULTS).find(([name]) => prompt.includes(name)) ?? [];
  const isMet = fault !== undefined && MEETS_FAULT.test(asked);
  await (isMet ? fault : answerWell)(new Answer(response));
}
