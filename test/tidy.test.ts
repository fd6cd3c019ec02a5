/**
 * The rules of the house that no linter knows: imports between planes, cycles, adapters, folder size, words, and the paths that
 * ARCHITECTURE.md names. Dead code is found by knip (`knip.json`, a step of `npm test`).
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** Plane to the planes it may import. Order: data flows down the list, imports point up it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  domain: ['lib'],
  config: ['lib', 'domain', 'telephony', 'speech'],
  sip: ['lib'],
  rtp: ['lib'],
  media: ['lib', 'rtp'],
  speech: ['lib', 'media'],
  llm: ['lib'],
  tool: ['lib', 'domain', 'llm', 'webhook'],
  conversation: ['lib', 'domain', 'media', 'speech', 'llm', 'tool'],
  telephony: ['lib', 'domain', 'rtp', 'media'],
  call: ['lib', 'domain', 'media', 'speech', 'llm', 'tool', 'conversation', 'telephony'],
  store: ['lib', 'domain'],
  webhook: ['lib', 'domain'],
  api: ['lib', 'domain'],
  operator: ['lib', 'domain', 'api'],
  'model-store': ['lib', 'domain'],
  dashboard: [],
};

/** Files that put the parts together; they may import anything. The registry lists the TTS engines. */
const COMPOSITION_ROOT = /^(main\.ts|compose\/|cli\/|speech\/tts\/tts-engines\.ts)/;

/** Only its own files and the composition root may import an adapter. */
const ADAPTERS = [
  ...['drachtio', 'direct', 'freeswitch', 'webrtc', 'sandbox'].map((name) => `telephony/${name}/`),
  ...['ollama', 'openai', 'llama-cpp', 'scripted'].map((name) => `llm/${name}/`),
  'llm/embeddings/onnx/',
  ...['whisper', 'moonshine', 'transformers', 'openai', 'wyoming'].map(
    (name) => `speech/stt/${name}/`,
  ),
  ...['piper', 'kokoro', 'espeak', 'openai', 'wyoming'].map((name) => `speech/tts/${name}/`),
  'speech/vad/silero/',
];

const FOLDER_FILES_MAX = 25;

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(file: string): Import[] {
  const source = readFileSync(join('src', file), 'utf8');
  const specifiers = [...source.matchAll(/from '(\.[^']+)'/g)].map((match) => match[1] ?? '');
  return specifiers.map((to) => ({ from: file, to: normalize(join(dirname(file), to)) }));
}

const files = globSync('**/*.ts', { cwd: 'src' }).sort();
const allImports = files.flatMap(importsOf);
const imports = allImports.filter(({ from }) => !COMPOSITION_ROOT.test(from));
const planeOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '(root)');

test('src/ has files and imports to check', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(imports.length).toBeGreaterThan(100);
});

test('every plane is listed', () => {
  const planes = new Set(files.map(planeOf).filter((plane) => plane !== '(root)'));
  const wiring = ['compose', 'cli'];
  expect([...planes].filter((plane) => !(plane in MAY_IMPORT || wiring.includes(plane)))).toEqual(
    [],
  );
});

test('imports go one way between planes', () => {
  const wrong = imports.filter(({ from, to }) => {
    const [fromPlane, toPlane] = [planeOf(from), planeOf(to)];
    // Data, such as a preset of a trunk, is of no plane.
    const isCode = !to.endsWith('.json');
    return (
      isCode &&
      fromPlane !== toPlane &&
      fromPlane !== '(root)' &&
      !MAY_IMPORT[fromPlane]?.includes(toPlane)
    );
  });
  expect(wrong).toEqual([]);
});

test('only a composition root names an adapter', () => {
  const wrong = imports.filter(({ from, to }) =>
    ADAPTERS.some((adapter) => to.startsWith(adapter) && !from.startsWith(adapter)),
  );
  expect(wrong).toEqual([]);
});

test('no import cycle, types included', () => {
  const targets = Map.groupBy(allImports, ({ from }) => from);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' > '));
    if (path.includes(file) || done.has(file)) return;
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };

  for (const file of files) visit(file, []);

  expect(cycles).toEqual([]);
});

/** Import statements that load a module: not those of types alone. */
const LOADING =
  /^(?:import|export) (?!type )(?!\{(?:\s*type \w+,?)+\s*\} from)[^;]*?from '(\.[^']+)'/gm;

/** What loading a file loads with it. */
function loadedWith(first: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const visit = (file: string) => {
    if (loaded.has(file) || !file.endsWith('.ts')) return;
    loaded.add(file);
    for (const [, to = ''] of readFileSync(join('src', file), 'utf8').matchAll(LOADING)) {
      visit(normalize(join(dirname(file), to)));
    }
  };
  visit(first);
  return loaded;
}

test('what is loaded when it is needed is not loaded at the start as well', () => {
  const atStart = new Set(
    ['compose/app-parts.ts', 'compose/app.ts'].flatMap((file) => [...loadedWith(file)]),
  );
  const onNeed = files.flatMap((file) => {
    const source = readFileSync(join('src', file), 'utf8');
    const targets = [...source.matchAll(/\bimport\('(\.[^']+\.ts)'\)/g)];
    return targets.map(([, to = '']) => normalize(join(dirname(file), to)));
  });

  expect(onNeed.length).toBeGreaterThan(20);
  // The composition itself is loaded in two pieces.
  const wrong = onNeed.filter((file) => atStart.has(file) && !file.startsWith('compose/'));
  expect(wrong).toEqual([]);
});

test('a folder holds at most 25 files', () => {
  const modules = [...globSync('src/**/*.{ts,tsx}'), ...globSync('test/support/**/*.ts')];
  const sizes = Object.entries(Object.groupBy(modules, dirname));
  const large = sizes.map(([folder, of = []]) => `${folder}: ${of.length}`);
  expect(large.filter((entry) => Number(entry.split(': ')[1]) > FOLDER_FILES_MAX)).toEqual([]);
});

test('every adapter exists', () => {
  expect(ADAPTERS.filter((adapter) => !files.some((file) => file.startsWith(adapter)))).toEqual([]);
});

test('pure files read no clock, no chance, no network', () => {
  const impure =
    /\b(Date\.now|new Date\(\)|setTimeout|setInterval|Math\.random|randomUUID|fetch)\b/;
  const pure = files.filter(
    (file) =>
      file.startsWith('domain/') || /; pure \*\//.test(readFileSync(join('src', file), 'utf8')),
  );
  expect(pure.filter((file) => impure.test(readFileSync(join('src', file), 'utf8')))).toEqual([]);
});

test('every file opens by saying what it is', () => {
  expect(
    files.filter((file) => !readFileSync(join('src', file), 'utf8').startsWith('/** ')),
  ).toEqual([]);
});

test('a docstring begins with a noun or a verb, not with a clause such as "What the server needs"', () => {
  const clause = /\/\*\*[\s*]*(?:What|Of|Those|Such as|As|By) [^\n]*/g;
  const found = files.flatMap(
    (file) => readFileSync(join('src', file), 'utf8').match(clause) ?? [],
  );

  expect(found).toEqual([]);
});

test('nine exports in ten have a docstring', () => {
  const exports = files.flatMap((file) => {
    const lines = readFileSync(join('src', file), 'utf8').split('\n');
    return lines.flatMap((line, index) =>
      /^export (async )?(function|class|const|interface|type|abstract) /.test(line)
        ? [lines[index - 1]?.trimEnd().endsWith('*/') ?? false]
        : [],
    );
  });

  expect(exports.filter((isDocumented) => isDocumented).length / exports.length).toBeGreaterThan(
    0.9,
  );
});

test('every path that ARCHITECTURE.md and the glossary name exists', () => {
  const text = ['ARCHITECTURE.md', 'docs/glossary.md'].map((page) => readFileSync(page, 'utf8'));
  const named = [
    ...text.join('\n').matchAll(/`((?:src|test|models|docs)\/[\w./-]*)`|\]\((docs\/[\w./-]+)\)/g),
  ];
  const paths = named.map(([, inCode, inLink]) => inCode ?? inLink ?? '');
  expect(paths.length).toBeGreaterThan(60);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test('ARCHITECTURE.md says where to change at least twenty things', () => {
  const table =
    readFileSync('ARCHITECTURE.md', 'utf8').split('## Where do I')[1]?.split('\n## ')[0] ?? '';
  expect(table.match(/^\| .*`src\//gm)?.length).toBeGreaterThanOrEqual(20);
});

/**
 * Words that must not come back: prose that hides its subject, and names that the glossary replaced. Identifiers count by their
 * words, so that `handOver` is "hand over".
 */
const BANNED =
  /\b(nobody|whoever|anew|for ever|beside|of whom|(hand|hands|handed) over|happenings?|company|doors?|dialog book|drachtio front|send wheel|packet order|heard ring|voice shelf|said text|harmless text|tak(ing|en) down)\b/g;

/** What is meant, by file: a title that is quoted, sentences that are spoken, a source of checksums in lock files, RFC 4475. */
const BANNED_LEFT: Readonly<Record<string, readonly string[]>> = {
  'src/call/analysis/analysis-fallback.ts': ['anew'],
  'src/model-store/download-models.ts': ['nobody'],
  'src/model-store/model-lock.ts': ['nobody', 'nobody'],
  'test/conversation/conversation.test.ts': ['nobody', 'nobody'],
  'test/e2e/parallel/bridged-calls.test.ts': ['nobody', 'nobody', 'nobody'],
  'test/llm/scripted-model.test.ts': ['nobody'],
  'test/models/download-models.test.ts': ['nobody', 'nobody'],
  'test/sip/uri.test.ts': ['nobody'],
  'test/support/speech/non-speech.ts': ['door'],
};

/** Files that name the words in order to say that they are replaced. */
const NAMING_BANNED = ['docs/glossary.md', 'test/tidy.test.ts'];

const PROSE = [
  ...['*.md', 'docs/**/*.md', 'sip-config/*.md', 'src/**/*.{ts,tsx}'],
  ...['test', 'bench', 'clients', 'examples', 'models'].map((folder) => `${folder}/**/*.ts`),
];

function wordsOf(text: string): string {
  const parted = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  return parted.replace(/[_\-\s*/]+/g, ' ').toLowerCase();
}

test('words that the glossary and the style guide replaced do not come back', () => {
  const texts = globSync(PROSE, { exclude: ['**/node_modules/**', '**/generated/**'] });
  const checked = texts.filter((path) => !NAMING_BANNED.includes(path));

  const used = checked.flatMap((path) => {
    const words = wordsOf(readFileSync(path, 'utf8')).match(BANNED);
    return words === null ? [] : [[path, words] as const];
  });

  expect(Object.fromEntries(used)).toEqual(BANNED_LEFT);
});
