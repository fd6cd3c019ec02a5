/** A disk that is full, for every store at once. */

import { StoreError } from '../../../src/domain/service-error.ts';
import type { TestStore } from './test-store.ts';

/** Requests are still counted, time goes on, and what is only told lies on no disk. */
const SPARED = ['rates', 'clock', 'liveFeed'];

/** Lets every method of every store throw. @returns repairs them. */
export function breakStore(store: TestStore): () => void {
  const parts = Object.entries(store).filter(([name]) => !SPARED.includes(name));
  const repairs = parts.flatMap(([, part]) => methodsOf(part).map((name) => breakOne(part, name)));
  const { transaction } = store;
  const broken = { transaction: async () => refuse() };
  Object.assign(store, broken);
  return () => {
    for (const repair of repairs) repair();
    Object.assign(store, { transaction });
  };
}

function breakOne(part: Record<string, unknown>, name: string): () => void {
  part[name] = refuse;
  return () => {
    delete part[name];
  };
}

function refuse(): never {
  throw new StoreError('Cannot use the database "x": the disk is full', 'full');
}

/** Its class's own, and those that the class inherits. */
function methodsOf(part: unknown): readonly string[] {
  if (typeof part !== 'object' || part === null) return [];
  const names: string[] = [];
  for (
    let prototype = Object.getPrototypeOf(part);
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    names.push(...Object.getOwnPropertyNames(prototype));
  }
  return names.filter((name) => name !== 'constructor');
}
