/** Requests made from the document: every answer must be one that the document has, and never a failure of ours. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDescription } from '../support/api/api-description.ts';
import {
  type ApiWorld,
  idsFor,
  keyOf,
  openApiWorld,
  SCOPELESS_KEY,
} from '../support/api/api-world.ts';
import { textOf } from '../support/api/event-reader.ts';
import { faultsOf } from '../support/api/json-schema.ts';
import { type Operation, operationsOf } from '../support/api/openapi-description.ts';
import { nearly } from '../support/api/schema-arbitrary.ts';
import { buildAgent } from '../support/store/build-agent.ts';

const NUM_RUNS = 3000;

/** So many requests meet one world: enough that they meet what others made. */
const WORLDS = 10;

const DESCRIPTION = await readDescription();

const OPERATIONS = operationsOf(DESCRIPTION);

interface Asked {
  /** Index of the operation, so that a counterexample can be read. */
  readonly operation: number;
  readonly path: string;
  readonly key: string | null;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
}

/** The generator of an operation is built once a world: building takes longer than the request. */
function requests({ ids }: ApiWorld): fc.Arbitrary<Asked> {
  const built = new Map<number, fc.Arbitrary<Asked>>();
  return fc.nat(OPERATIONS.length - 1).chain((index) => {
    const ofOperation = built.get(index) ?? requestsOf(index, ids);
    built.set(index, ofOperation);
    return ofOperation;
  });
}

function requestsOf(index: number, ids: Readonly<Record<string, string>>): fc.Arbitrary<Asked> {
  const operation = operationAt(index);
  const text = fc.string({ unit: 'binary', minLength: 1 }).map((id) => id.toWellFormed());
  const values = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name }) => fc.oneof({ arbitrary: fc.constant(ids[name] ?? ''), weight: 8 }, text));
  const path = fc
    .tuple(...values)
    .map((found) =>
      found.reduce((left, id) => left.replace(/\{\w+\}/, encodeURIComponent(id)), operation.path),
    );
  const known = { description: DESCRIPTION, ids: idsFor(operation, ids) };
  const key = fc.oneof(
    { arbitrary: fc.constant(keyOf(operation)), weight: 20 },
    fc.constantFrom(null, SCOPELESS_KEY),
  );
  return fc.record({
    operation: fc.constant(index),
    path: fc.tuple(path, queries(operation, known)).map(([start, query]) => `${start}${query}`),
    key,
    body: operation.body === undefined ? fc.constant(undefined) : nearly(operation.body, known),
    idempotencyKey: fc.constantFrom(undefined, undefined, 'k1', 'k2', 'not one'),
  });
}

function operationAt(index: number): Operation {
  const operation = OPERATIONS[index];
  if (operation === undefined) throw new RangeError(`There is no operation ${index}`);
  return operation;
}

function queries(
  { parameters }: Operation,
  known: Parameters<typeof nearly>[1],
): fc.Arbitrary<string> {
  const fields = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) =>
      fc.option(nearly(schema, known), { freq: 2, nil: undefined }).map((value) => {
        if (value === undefined) return [];
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        return [[name, text.toWellFormed()] as const];
      }),
    );
  if (fields.length === 0) return fc.constant('');
  return fc
    .tuple(...fields)
    .map((pairs) => `?${new URLSearchParams(Object.fromEntries(pairs.flat()))}`);
}

/** What is wrong with the answer; empty when nothing is. */
async function answerFaults(response: Response, operation: Operation): Promise<readonly string[]> {
  const docs = operation.docs.responses[response.status];
  const text = await textOf(response);
  if (docs === undefined) return [`undocumented ${response.status}: ${text}`];
  if (response.status >= 500) return [`failed with ${response.status}: ${text}`];
  const schema = docs.content?.['application/json']?.schema;
  if (schema === undefined) return docs.content === undefined && text !== '' ? ['has a body'] : [];
  return faultsOf(JSON.parse(text), schema, DESCRIPTION);
}

test(`${NUM_RUNS} requests made from the document are answered as it says, and never with 5xx`, async () => {
  const seen = new Set<string>();
  for (let world = 0; world < WORLDS; world++) await askWorld(await openApiWorld(), seen);

  const succeeded = [...seen].filter((answer) => / 2\d\d$/.test(answer));
  // Otherwise these requests would have looked at refusals only.
  expect(succeeded.length).toBeGreaterThan(OPERATIONS.length * 0.7);
});

async function askWorld(world: ApiWorld, seen: Set<string>): Promise<void> {
  const { api } = world;
  // None of the numbers that requests are made with: another agent may be given those meanwhile.
  const agent = buildAgent({ accountId: 'acct_main', phoneNumber: '+390655501234' });

  await fc.assert(
    fc.asyncProperty(requests(world), async ({ path, key, body, idempotencyKey, ...asked }) => {
      const operation = operationAt(asked.operation);
      if ((await api.store.agents.find(agent, agent.id)) === undefined)
        await api.store.agents.insert(agent);
      const headers = idempotencyKey === undefined ? {} : { 'X-Idempotency-Key': idempotencyKey };

      const response = await api.request(operation.method, path, { key, body, headers });

      const { operationId } = operation.docs;
      seen.add(`${operationId} ${response.status}`);
      expect(await answerFaults(response, operation), `${operationId} ${path}`).toEqual([]);
    }),
    // What one request changes, the next one meets: a smaller example would meet another world.
    { numRuns: Math.ceil(NUM_RUNS / WORLDS), endOnFailure: true },
  );
}
