/** A model server at the wire: speaks a real protocol over real HTTP, and misbehaves on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server does with the next question. `late` answers after 150 ms. */
export type Behaviour =
  | 'answer'
  | 'late'
  | 'call'
  | 'json'
  | 'hang'
  | 'stall'
  | 'fail'
  | 'cut'
  | 'rubbish'
  | 'endless';

export const WORDS = ['We ', 'open ', 'at ', 'nine.'];

/** How long the server says that every prompt was. */
export const PROMPT_TOKENS = 321;

/** How one protocol puts an answer on the wire. */
export interface Wire {
  readonly contentType: string;
  /** Path of the question that a health check asks, and its answer. */
  readonly health: { readonly path: string; readonly body: unknown };
  /** Path of the question what a model can do, and its answer. */
  readonly abilities?: { readonly path: string; readonly body: unknown };
  words(text: string): string;
  toolCall(name: string, args: Readonly<Record<string, unknown>>): string;
  end(promptTokens?: number): string;
  rubbish(): string;
  /** An answer in one piece. */
  whole(): string;
}

export interface ModelServer {
  readonly url: string;
  behaviour: Behaviour;
  isHealthy: boolean;
  /** How long it says that a prompt was. */
  tokensOf: (question: Record<string, unknown>) => number;
  /** Bodies of the questions so far. */
  readonly questions: Record<string, unknown>[];
  /** Connections that the client closed before the answer was whole. */
  readonly closed: { count: number };
  stop(): Promise<void>;
}

export async function startModelServer(wire: Wire): Promise<ModelServer> {
  const closed = { count: 0 };
  const questions: Record<string, unknown>[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableEnded) closed.count += 1;
    });
    void readBody(request).then((body) => {
      if (request.url === wire.health.path) return sendHealth(response);
      if (request.url === wire.abilities?.path) {
        return void response.end(JSON.stringify(wire.abilities?.body));
      }
      const question = JSON.parse(body);
      questions.push(question);
      const counting = { ...wire, end: () => wire.end(control.tokensOf(question)) };
      const isWhole = question.stream === false && control.behaviour === 'answer';
      const send = isWhole ? answerWhole : SENDERS[control.behaviour];
      const timer = setTimeout(
        () => send(counting, response, timers),
        control.behaviour === 'late' ? 150 : 0,
      );
      timers.add(timer);
    });
  });
  const sendHealth = (response: ServerResponse) => {
    response.writeHead(control.isHealthy ? 200 : 503, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(wire.health.body));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const control: ModelServer = {
    url: `http://127.0.0.1:${port}`,
    behaviour: 'answer',
    isHealthy: true,
    tokensOf: () => PROMPT_TOKENS,
    questions,
    closed,
    stop: async () => {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return control;
}

type Sender = (wire: Wire, response: ServerResponse, timers: Set<NodeJS.Timeout>) => void;

const answer: Sender = (wire, response) => {
  response.writeHead(200, { 'Content-Type': wire.contentType });
  for (const word of WORDS) response.write(wire.words(word));
  response.end(wire.end());
};

const answerWhole: Sender = (wire, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(wire.whole());
};

const SENDERS: Readonly<Record<Behaviour, Sender>> = {
  answer,
  late: answer,
  call: (wire, response) => {
    response.writeHead(200, { 'Content-Type': wire.contentType });
    response.write(wire.words('One moment.'));
    response.write(wire.toolCall('transfer_call', { destination: 'sales' }));
    response.end(wire.end());
  },
  json: (wire, response) => {
    response.writeHead(200, { 'Content-Type': wire.contentType });
    response.write(wire.words('{"intent":'));
    response.write(wire.words('"booking"}'));
    response.end(wire.end());
  },
  hang: () => undefined,
  stall: (wire, response) => {
    response.writeHead(200, { 'Content-Type': wire.contentType });
    response.write(wire.words('We '));
  },
  fail: (_wire, response) => {
    response.writeHead(500, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: 'out of memory' }));
  },
  cut: (wire, response) => {
    response.writeHead(200, { 'Content-Type': wire.contentType });
    response.write(wire.words('We '));
    response.write(wire.words('open '), () => response.destroy());
  },
  rubbish: (wire, response) => {
    response.writeHead(200, { 'Content-Type': wire.contentType });
    response.write(wire.words('We '));
    response.write(wire.rubbish());
    response.end(wire.end());
  },
  endless: (wire, response, timers) => {
    response.writeHead(200, { 'Content-Type': wire.contentType });
    const timer = setInterval(() => {
      if (response.destroyed) clearInterval(timer);
      else response.write(wire.words('on '));
    }, 5);
    timers.add(timer);
  },
};

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
