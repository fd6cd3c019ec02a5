/** Drives every operation of the OpenAPI document against a real server, and checks what comes back against its schema. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDescription } from '../../test/support/api/api-description.ts';
import { faultsOf } from '../../test/support/api/json-schema.ts';
import { type Description, operationsOf } from '../../test/support/api/openapi-description.ts';
import {
  LIVE_KEY,
  startServer,
  TEST_KEY,
  type TestServer,
} from '../../test/support/server/server.ts';
import type { ClientModel, ClientOperation } from '../generator/client-model.ts';
import { readModel } from '../generator/read-model.ts';
import type { ClientUnderTest } from './conformance.ts';
import { Driver, type DriverAnswer, type Invocation } from './driver.ts';
import { FaultServer, json } from './fault-server.ts';
import { type Made, WALK, type WalkStep } from './operation-walk.ts';
import { runReadmeStart } from './readme-start.ts';

const ROOT = join(import.meta.dirname, '../..');
const UNTIL_MS_MAX = 20_000;
const UNTIL_EVERY_MS = 100;
const LIST_ITEMS_MAX = 30;

/** Registers the walk through all operations, once for each flavour, and the first program of the README. */
export function testOperations(client: ClientUnderTest): void {
  const { driver: words, flavours = [''], readme } = client;
  let server: TestServer;
  let description: Description;
  let model: ClientModel;
  const receiver = new FaultServer();

  beforeAll(async () => {
    description = await readDescription();
    model = readModel(description);
    await receiver.start();
    receiver.script([json(200, {})]);
    const environment = { WEBHOOK_ALLOW_LOCAL: 'true' };
    server = await (await startServer({ environment })).ready();
  });
  afterAll(async () => {
    await server?.stop();
    await receiver.stop();
  });

  test.each(flavours)('every operation, against a real server %s', async (flavour) => {
    const driver = new Driver(words, ROOT);
    const { baseUrl } = server;
    const walk = new Walk(driver, { model, description });
    const made = { receiverUrl: `${receiver.baseUrl}/hook` };

    try {
      await walk.run({ baseUrl, flavour, made });
    } finally {
      await driver.stop();
    }

    expect(walk.faults.filter((fault) => !isExcused(fault, client))).toEqual([]);
    const all = model.operations.map(({ resource, verb }) => `${resource}.${verb}`);
    expect(all.filter((name) => !walk.driven.has(name))).toEqual([]);
    expect(all.length).toBe(operationsOf(description).length);
  });

  test('the first program of the README', async () => {
    const printed = await runReadmeStart(readme, server);

    expect(printed).toContain('Good morning, how can I help?');
  });
}

/** An empty list where the document has an object. */
function isExcused(fault: string, { hasOneKindOfArray = false }: ClientUnderTest): boolean {
  return hasOneKindOfArray && fault.endsWith(' is no object: []');
}

/** One way through all steps. */
class Walk {
  readonly faults: string[] = [];
  readonly driven = new Set<string>();
  readonly #driver: Driver;
  readonly #model: ClientModel;
  readonly #description: Description;
  #made: Made = {};

  constructor(
    driver: Driver,
    { model, description }: { readonly model: ClientModel; readonly description: Description },
  ) {
    this.#driver = driver;
    this.#model = model;
    this.#description = description;
  }

  async run(options: {
    readonly baseUrl: string;
    readonly flavour: string;
    readonly made: Made;
  }): Promise<void> {
    const { baseUrl, flavour, made } = options;
    this.#made = made;
    let openKey = '';
    for (const step of WALK) {
      const apiKey = step.isSandbox === true ? TEST_KEY : LIVE_KEY;
      if (apiKey !== openKey) await this.#driver.value({ do: 'open', baseUrl, apiKey, flavour });
      openKey = apiKey;
      await this.#take(step);
    }
  }

  async #take(step: WalkStep): Promise<void> {
    const operation = this.#operation(step.operation);
    const answer = await this.#answerTo(step, invocationOf(step, operation, this.#made));
    this.driven.add(step.operation);
    if (!answer.ok) {
      if (answer.error.kind !== step.kind) this.#note(step, JSON.stringify(answer.error));
      this.#keep(step, {});
      return;
    }
    if (step.kind !== undefined) this.#note(step, `no ${step.kind}`);
    for (const fault of this.#valueFaults(operation, answer.value)) this.#note(step, fault);
    this.#keep(step, Object(answer.value));
  }

  #keep({ keeps = {} }: WalkStep, value: Readonly<Record<string, unknown>>): void {
    const kept = Object.entries(keeps).map(([name, field]) => [name, String(value[field])]);
    this.#made = { ...this.#made, ...Object.fromEntries(kept) };
  }

  async #answerTo(step: WalkStep, invocation: Invocation): Promise<DriverAnswer> {
    const { answer: kind } = this.#operation(step.operation);
    if (kind.kind === 'events') return this.#driver.do({ do: 'stream', count: 1, ...invocation });
    if (kind.kind === 'page')
      await this.#driver.value({ do: 'list', max: LIST_ITEMS_MAX, ...invocation });
    const deadlineMs = performance.now() + UNTIL_MS_MAX;
    for (;;) {
      const answer = await this.#driver.do({ do: 'call', ...invocation });
      if (!answer.ok || (step.until?.(Object(answer.value)) ?? true)) return answer;
      if (performance.now() > deadlineMs) {
        throw new Error(`"${step.operation}" gives ${JSON.stringify(answer.value)} for too long`);
      }
      await new Promise((resolve) => setTimeout(resolve, UNTIL_EVERY_MS));
    }
  }

  /** What is wrong with a value, by the document. */
  #valueFaults({ id, answer }: ClientOperation, value: unknown): readonly string[] {
    switch (answer.kind) {
      case 'nothing':
        return value === null ? [] : ['a value instead of none'];
      case 'download': {
        const { contentType, sizeBytes } = Object(value);
        return contentType === answer.contentType && sizeBytes > 44 ? [] : [JSON.stringify(value)];
      }
      case 'events': {
        const [first] = value as readonly { readonly event: string }[];
        return first?.event === 'snapshot' ? [] : [JSON.stringify(value)];
      }
      case 'json':
      case 'page':
        return faultsOf(value, this.#schemaOf(id), this.#description);
      default:
        return answer satisfies never;
    }
  }

  #schemaOf(id: string) {
    const found = operationsOf(this.#description).find(({ docs }) => docs.operationId === id);
    const { responses } = found?.docs ?? { responses: {} };
    const answer = responses['200'] ?? responses['201'] ?? responses['202'];
    return answer?.content?.['application/json']?.schema ?? {};
  }

  #operation(name: string): ClientOperation {
    const isIt = ({ resource, verb }: ClientOperation) => `${resource}.${verb}` === name;
    const found = this.#model.operations.find(isIt);
    if (found === undefined) throw new Error(`There is no operation "${name}"`);
    return found;
  }

  #note({ operation }: WalkStep, what: string): void {
    this.faults.push(`${operation}: ${what}`);
  }
}

/** A query has its place in a method's arguments even when it is empty. */
function invocationOf(step: WalkStep, { query }: ClientOperation, made: Made): Invocation {
  const given = step.with?.(made) ?? {};
  const ofQuery = query.length === 0 ? {} : { query: given.query ?? {} };
  return { operation: step.operation, ...given, ...ofQuery };
}
