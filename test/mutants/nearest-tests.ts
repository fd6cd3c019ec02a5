/** Says which test files exercise a source file, by the way of the imports. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** For each file the files that import it. Paths are relative to the root of the project. */
export type Importers = ReadonlyMap<string, readonly string[]>;

/** Reads the imports of `src` and `test` below `root`; imports of types count as well, which only adds tests. */
export function readImporters(root: string): Importers {
  const importers = new Map<string, string[]>();
  for (const file of globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root }).sort()) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, to = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const path = normalize(join(dirname(file), to));
      importers.set(path, [...(importers.get(path) ?? []), file]);
    }
  }
  return importers;
}

/**
 * Lists the unit tests that import `source`, directly or through other files: those with the fewest files in between first,
 * and of those the ones with the most words of its path in their own.
 *
 * @param most As many are listed at most.
 */
export function nearestTests(importers: Importers, source: string, most: number): string[] {
  const seen = new Set([source]);
  const tests: string[] = [];
  let ring = [source];
  const words = wordsOf(source);
  const kin = (test: string) => wordsOf(test).intersection(words).size;
  while (ring.length > 0 && tests.length < most) {
    ring = ring.flatMap((file) => importers.get(file) ?? []).filter((file) => isNew(seen, file));
    tests.push(...ring.filter(isUnitTest).toSorted((one, other) => kin(other) - kin(one)));
  }
  return tests.slice(0, most);
}

function isNew(seen: Set<string>, file: string): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  return true;
}

function isUnitTest(file: string): boolean {
  return /^test\/(?!e2e\/|integration\/|real\/).*\.test\.ts$/.test(file);
}

/** `src/api/routes/agents/agent-routes.ts` has `src`, `api`, `route`, `agent`, `ts`. */
function wordsOf(path: string): ReadonlySet<string> {
  return new Set(path.split(/[^a-z0-9]+/).map((word) => word.replace(/s$/, '')));
}
