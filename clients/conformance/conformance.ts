/** The tests that every client library passes. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readVectors, type Vector } from '../../test/support/webhook/webhook-vectors.ts';
import { type Command, Driver, type DriverAnswer } from './driver.ts';
import type { FaultCase } from './fault-case.ts';
import { FAULT_CASES, FAULT_KEY } from './fault-cases.ts';
import { FaultServer } from './fault-server.ts';
import type { ReadmeStart } from './readme-start.ts';
import { snapshotThenNothing } from './stream-cases.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface ClientUnderTest {
  /** Program and arguments of its driver. */
  readonly driver: readonly string[];
  /** Of a language with several clients; each passes the fault cases. */
  readonly flavours?: readonly string[];
  readonly readme: ReadmeStart;
  /** Of a language with one kind of array: what is an empty object in JSON comes as an empty list. */
  readonly hasOneKindOfArray?: boolean;
}

const GET_AGENT: Command = { do: 'call', operation: 'agents.get', path: ['agent_1'] };

/** Registers the fault cases and the vectors of webhook signatures. */
export function testFaults({ driver: words, flavours = [''] }: ClientUnderTest): void {
  let driver: Driver;
  const server = new FaultServer();

  beforeAll(async () => {
    driver = new Driver(words, ROOT);
    await server.start();
  });
  afterAll(async () => {
    await driver?.stop();
    await server.stop();
  });

  async function answerTo({ steps, open = {}, command = GET_AGENT }: FaultCase, flavour: string) {
    server.script(steps);
    const { baseUrl } = server;
    await driver.value({ do: 'open', baseUrl, apiKey: FAULT_KEY, flavour, ...open });
    return driver.do(command);
  }

  describe.each(flavours)('faults %s', (flavour) => {
    test('there are more than thirty', () => {
      expect(FAULT_CASES.length).toBeGreaterThan(30);
    });

    test.each(FAULT_CASES)('$name', async (fault) => {
      const answer = await answerTo(fault, flavour);

      expect(faultOf(answer, fault.expected)).toEqual(fault.expected);
      expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toHaveLength(fault.requests);
      expect(fault.faultsOf?.(server.seen) ?? []).toEqual([]);
      expect(JSON.stringify(answer)).not.toContain(FAULT_KEY);
    });
  });

  test('leaving the events ends the connection', async () => {
    server.script([snapshotThenNothing]);
    await driver.value({ do: 'open', baseUrl: server.baseUrl, apiKey: FAULT_KEY });

    await driver.value({ do: 'stream', operation: 'calls.watch', query: {}, count: 1 });

    await expect.poll(() => server.openConnections).toBe(0);
  });

  describe('webhooks.verify', () => {
    test.each(readVectors())('$name', async (vector) => {
      const answer = await driver.do(verifyCommand(vector));

      expect(verdictOf(answer)).toBe(expectedVerdict(vector));
    });

    test('a header that is missing', async () => {
      const [vector] = readVectors();
      if (vector === undefined) throw new Error('there are no vectors');

      const answer = await driver.do({ ...verifyCommand(vector), headers: {} });

      expect(verdictOf(answer)).toBe('missing-header');
    });

    test('either of two secrets, and names of headers in any case', async () => {
      const [vector] = readVectors();
      if (vector === undefined) throw new Error('there are no vectors');
      const entries = Object.entries(vector.headers);
      const headers = Object.fromEntries(
        entries.map(([name, value]) => [name.toLowerCase(), value]),
      );
      const secret = ['whsec_other', vector.receiverSecret];

      const answer = await driver.do({ ...verifyCommand(vector), headers, secret });

      expect(verdictOf(answer)).toBe('valid');
    });
  });
}

function verifyCommand(vector: Vector): Extract<Command, { do: 'verify' }> {
  const { body, headers, receiverSecret, receivedAt } = vector;
  return { do: 'verify', body, headers, secret: receiverSecret, now: receivedAt };
}

function verdictOf(answer: DriverAnswer): string {
  if (answer.ok) return 'valid';
  const { kind, reason } = answer.error;
  return kind === 'WebhookSignature' ? String(reason) : kind;
}

/** Genuine bodies that are no JSON are no events. */
function expectedVerdict({ service, body }: Vector): string {
  if (service === 'valid') return body === '' ? 'not-an-event' : 'valid';
  return service.replaceAll(' ', '-');
}

/** What is to be compared: the fields that the case names. */
function faultOf(answer: DriverAnswer, expected: FaultCase['expected']): object {
  if (answer.ok) return { value: answer.value };
  const { error } = answer;
  if ('value' in expected) return error;
  const names = Object.keys(expected) as (keyof typeof error)[];
  return Object.fromEntries(names.map((name) => [name, error[name]]));
}
