/** `docs/reference/` says what the source says: the same pages, and no setting, metric, event or error code left out. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { metricFamilies } from '../../docs/tools/metric-list.ts';
import { referencePages } from '../../docs/tools/reference-pages.ts';
import { helpText } from '../../src/cli/server-command-line.ts';
import { SETTINGS } from '../../src/config/config.ts';
import { SETTING_MEANINGS } from '../../src/config/setting-meanings.ts';
import { ERROR_STATUS } from '../../src/domain/service-error.ts';
import { SERVICE_EVENT_KINDS } from '../../src/domain/webhook/service-event.ts';

const read = (name: string) => readFileSync(`docs/reference/${name}`, 'utf8');

test.each(
  Object.entries(referencePages()),
)('docs/reference/%s is up to date (else: npm run docs:reference)', (name, text) => {
  expect(read(name)).toBe(text);
});

test('every setting has one meaning', () => {
  const described = Object.values(SETTING_MEANINGS).flatMap((group) => Object.keys(group));

  expect(described.toSorted()).toEqual(Object.keys(SETTINGS).toSorted());
});

test('helpText lists every setting', () => {
  const listed = [...helpText().matchAll(/^ {2}([A-Z][A-Z_]+)$/gm)].map(([, name]) => name);

  expect(listed.toSorted()).toEqual(Object.keys(SETTINGS).toSorted());
});

test('every metric that the source names is in the reference', () => {
  const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const named = sources.flatMap((source) =>
    [...source.matchAll(/\(\s*'(offhook_\w+)',\s*['"]/g)].map(([, name]) => name ?? ''),
  );
  const known = metricFamilies().map(({ name }) => name);

  expect(named.length).toBeGreaterThan(30);
  expect(named.toSorted()).toEqual(known.toSorted());
});

test.each([
  ['settings.md', Object.keys(SETTINGS).map((name) => `| \`${name}\``)],
  ['metrics.md', metricFamilies().map(({ name }) => `| \`${name}\` |`)],
  ['events.md', SERVICE_EVENT_KINDS.map((kind) => `## ${kind}\n`)],
  [
    'errors.md',
    Object.entries(ERROR_STATUS).map(([code, status]) => `| \`${code}\` | ${status} |`),
  ],
])('docs/reference/%s leaves nothing out', (name, lines) => {
  expect(lines.filter((line) => !read(name).includes(line))).toEqual([]);
});
