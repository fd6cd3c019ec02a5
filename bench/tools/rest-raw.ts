/** `rest-raw FILE`: the peer of the rest benchmark on bare node:http. Prints `listening PORT`, runs until its input ends. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAgentSchema } from '../../src/api/schemas/agent-schemas.ts';
import { startCallSchema } from '../../src/api/schemas/outbound-schemas.ts';
import { type Admission, type Answer, errorAnswer, RestPeer } from '../lib/rest-peer.ts';
import { openRestWorld } from '../lib/rest-world.ts';

const [file = ''] = process.argv.slice(2);
const peer = new RestPeer(await openRestWorld(file));

const server = createServer(async (request, response) => {
  const admission = await peer.admit(
    request.headers.authorization,
    request.socket.remoteAddress ?? '',
  );
  const { caller, refusal } = admission;
  if (refusal !== undefined || caller === undefined) {
    send(response, admission, refusal ?? errorAnswer(401, 'UNAUTHORIZED', admission.requestId));
    return;
  }
  if (request.method === 'POST') {
    readBody(request, async (body) =>
      send(response, admission, await write(request.url, body, caller)),
    );
    return;
  }
  send(response, admission, await read(request.url ?? '', admission, caller));
});

type Caller = NonNullable<Admission['caller']>;

async function read(url: string, { requestId }: Admission, { scope }: Caller): Promise<Answer> {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const limit = Number(searchParams.get('limit') ?? 20);
  if (pathname === '/api/agents') return peer.listAgents(scope, limit);
  if (pathname === '/api/calls') return peer.listCalls(scope, limit);
  const [, , kind, id = ''] = pathname.split('/');
  if (kind === 'agents') return peer.showAgent(scope, id, requestId);
  if (kind === 'calls') return peer.showCall(scope, id, requestId);
  return errorAnswer(404, 'NOT_FOUND', requestId);
}

async function write(url: string | undefined, body: string, caller: Caller): Promise<Answer> {
  const given: unknown = JSON.parse(body);
  if (url === '/api/agents') return peer.createAgent(caller.scope, createAgentSchema.parse(given));
  return peer.startCall(caller, startCallSchema.parse(given));
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => done(Buffer.concat(chunks).toString()));
}

function send(response: ServerResponse, admission: Admission, { status, body }: Answer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...admission.headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

server.listen(0, '127.0.0.1', () => {
  console.log(`listening ${(server.address() as AddressInfo).port}`);
});
process.stdin.resume();
process.stdin.once('close', () => process.exit(0));
