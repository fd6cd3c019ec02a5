/** Asks every operation of the document the same question. */
import { expect } from 'vitest';
import { readDescription } from './api-description.ts';
import { type ApiWorld, bodyOf, keyOf, pathOf } from './api-world.ts';
import { errorFaults } from './error-answer.ts';
import { type Operation, operationsOf } from './openapi-description.ts';
import type { RequestOptions } from './test-api.ts';

export const DESCRIPTION = await readDescription();

export const OPERATIONS = operationsOf(DESCRIPTION);

type Expected = Parameters<typeof errorFaults>[1];

/** Asks the operation, with a key and a body it takes unless told otherwise. */
export function ask(
  { api, ids }: ApiWorld,
  operation: Operation,
  options: RequestOptions & { readonly path?: string; readonly method?: string } = {},
): Promise<Response> {
  const { path = pathOf(operation, ids), method = operation.method, ...others } = options;
  const body = bodyOf(operation, DESCRIPTION, ids);
  return api.request(method, path, { key: keyOf(operation), body, ...others });
}

/** Asks all of them, and expects that nothing is wrong with any answer. */
export async function expectErrors(
  world: ApiWorld,
  operations: readonly Operation[],
  options: (operation: Operation) => Parameters<typeof ask>[2],
  expected: Expected,
): Promise<void> {
  const faults: string[] = [];
  for (const operation of operations) {
    const response = await ask(world, operation, options(operation));
    const found = await errorFaults(response, expected);
    faults.push(...found.map((fault) => `${operation.method} ${operation.path} ${fault}`));
  }

  expect(operations.length).toBeGreaterThan(5);
  expect(faults).toEqual([]);
}
