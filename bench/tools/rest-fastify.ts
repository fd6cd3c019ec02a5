/** `rest-fastify FILE`: the peer of the rest benchmark, in Fastify. Prints `listening PORT`, runs until its input ends. */
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { z } from 'zod';
import { createAgentSchema } from '../../src/api/schemas/agent-schemas.ts';
import { startCallSchema } from '../../src/api/schemas/outbound-schemas.ts';
import { isLanguageTag, isPlainText } from '../../src/domain/agent/agent-rules.ts';
import { type Admission, type Answer, errorAnswer, RestPeer } from '../lib/rest-peer.ts';
import { openRestWorld } from '../lib/rest-world.ts';

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission;
  }
}

const [file = ''] = process.argv.slice(2);
const peer = new RestPeer(await openRestWorld(file));
const app = fastify({ logger: false });
app.decorateRequest('admission');

app.addHook('onRequest', async (request, reply) => {
  const admission = await peer.admit(request.headers.authorization, request.ip);
  request.admission = admission;
  reply.headers(admission.headers);
  if (admission.refusal === undefined) return;
  return reply.code(admission.refusal.status).send(admission.refusal.body);
});

interface Given {
  readonly admission: Admission;
  readonly params: { readonly id: string };
  readonly query: { readonly limit: number };
  readonly body: unknown;
}

const querystring = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
} as const;

function route(
  method: 'GET' | 'POST',
  url: string,
  schema: object,
  answer: (given: Given, caller: NonNullable<Admission['caller']>) => Promise<Answer>,
): void {
  app.route({
    ...{ method, url, schema },
    handler: async (request, reply) => {
      const given = request as unknown as Given;
      const { caller } = request.admission;
      if (caller === undefined) throw new Error('Cannot answer: the request was not admitted');
      const { status, body } = await answer(given, caller);
      reply.code(status).send(body);
    },
  });
}

type AgentBody = Parameters<RestPeer['createAgent']>[1] & {
  readonly language: string;
  readonly tools: readonly string[];
};

/** What JSON Schema cannot say of an agent, and the schema says. */
function isGood({ name, greeting, systemPrompt, language, tools }: AgentBody): boolean {
  const isPlain = isPlainText(name) && isPlainText(greeting) && isPlainText(systemPrompt);
  return isPlain && isLanguageTag(language) && new Set(tools).size === tools.length;
}

const bodyOf = (schema: z.ZodType) => ({
  body: z.toJSONSchema(schema, { target: 'draft-7', unrepresentable: 'any', io: 'input' }),
});
route('GET', '/api/agents', { querystring }, ({ query }, { scope }) =>
  peer.listAgents(scope, query.limit),
);
route('GET', '/api/agents/:id', {}, ({ params, admission }, { scope }) =>
  peer.showAgent(scope, params.id, admission.requestId),
);
route('GET', '/api/calls', { querystring }, ({ query }, { scope }) =>
  peer.listCalls(scope, query.limit),
);
route('GET', '/api/calls/:id', {}, ({ params, admission }, { scope }) =>
  peer.showCall(scope, params.id, admission.requestId),
);
route('POST', '/api/agents', bodyOf(createAgentSchema), async ({ body, admission }, { scope }) => {
  const draft = body as AgentBody;
  if (!isGood(draft)) return errorAnswer(400, 'VALIDATION_ERROR', admission.requestId);
  return peer.createAgent(scope, draft);
});
route('POST', '/api/calls/outbound', bodyOf(startCallSchema), ({ body }, caller) =>
  peer.startCall(caller, body as Parameters<RestPeer['startCall']>[1]),
);
app.setNotFoundHandler((request, reply) => {
  const { status, body } = errorAnswer(404, 'NOT_FOUND', request.admission.requestId);
  reply.code(status).send(body);
});

await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening ${(app.server.address() as AddressInfo).port}`);
process.stdin.resume();
process.stdin.once('close', () => process.exit(0));
