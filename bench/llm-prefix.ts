/** How much sooner the first word comes when the prompt was read while the greeting played. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import type { ChatMessage } from '../src/llm/language-model.ts';
import { LlamaCppModel } from '../src/llm/llama-cpp/llama-cpp-model.ts';
import {
  checkTargets,
  cpuSecondsOf,
  markdownTable,
  numberArg,
  pairedRuns,
  percentile,
  printJson,
  ratios,
} from './lib/harness.ts';

const ROOT = join(import.meta.dirname, '..');

/**
 * An operator's prompt with the house rules and the tools has about 4,000 letters, a question thirty. The random model's
 * tokens are letters, so it finds both longer than a real one, and in the same proportion.
 */
const PROMPT_TOKENS = 4000;

const CONTEXT_TOKENS = 8192;

/** Random weights would stop when they like. */
const SCHEMA = {
  type: 'object',
  properties: { open: { type: 'string', enum: ['at nine'] } },
  required: ['open'],
  additionalProperties: false,
};

interface Taken {
  readonly firstMs: number;
  readonly cpuMs: number;
}

/** `--pairs N` (default 8), `--layers N` (4), `--width N` (256), `--gate`. Needs node-llama-cpp in models/llama-cpp. */
export async function run(args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const model = openModel(folder, args);
  try {
    await model.load();
    await firstWord(model, false);
    const pairs = await pairedRuns({
      pairs: numberArg(args, 'pairs', 8),
      a: () => firstWord(model, true),
      b: () => firstWord(model, false),
    });
    const [times, cpu] = [ratios(pairs, (one) => one.firstMs), ratios(pairs, (one) => one.cpuMs)];
    const rows = (['b', 'a'] as const).map((side) => row(side, pairs));
    console.log(markdownTable(rows));
    printJson({ bench: 'llm-prefix', engine: model.name, promptTokens: PROMPT_TOKENS, times, cpu });
    checkTargets(args, [
      { name: 'first word, warm / cold', value: times.median, limit: 0.2, tolerance: 0.1 },
      { name: 'processor time, warm / cold', value: cpu.median, limit: 0.2, tolerance: 0.1 },
    ]);
  } finally {
    await model.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Weights of random numbers, as many as make reading a prompt cost something. */
function openModel(folder: string, args: readonly string[]): LlamaCppModel {
  const file = join(folder, 'random.gguf');
  const sizes = [numberArg(args, 'layers', 4), numberArg(args, 'width', 256), CONTEXT_TOKENS];
  execFileSync(process.execPath, [
    join(ROOT, 'models/train/make-gguf.ts'),
    file,
    ...sizes.map(String),
  ]);
  return new LlamaCppModel({
    order: {
      folder: join(ROOT, 'models/llama-cpp'),
      file,
      contextTokens: CONTEXT_TOKENS,
      sequences: 1,
    },
    clock: systemClock,
    log: silentLogger,
    limits: { firstMs: 120_000, nextMs: 120_000 },
  });
}

let calls = 0;

/** One new call with a prompt not yet evaluated: first question after a greeting during which it was or was not prefilled. */
async function firstWord(model: LlamaCppModel, isWarm: boolean): Promise<Taken> {
  calls += 1;
  const { signal } = new AbortController();
  const system = `${calls} ${'You answer the telephone of a dentist. '.repeat(110)}`;
  const prefix: ChatMessage[] = [
    { role: 'system', content: system.slice(0, PROMPT_TOKENS) },
    { role: 'assistant', content: 'Hello, how can I help you?' },
  ];
  if (isWarm) await model.warm({ messages: prefix, signal });
  const messages = [...prefix, { role: 'user', content: 'When do you open?' } as const];
  const process = enginePid();
  const [startMs, cpuSeconds] = [performance.now(), cpuSecondsOf(process)];
  let taken: Taken | undefined;
  for await (const _ of model.stream({ messages, schema: SCHEMA, signal })) {
    taken ??= {
      firstMs: performance.now() - startMs,
      cpuMs: (cpuSecondsOf(process) - cpuSeconds) * 1000,
    };
  }
  return taken ?? { firstMs: Number.NaN, cpuMs: Number.NaN };
}

/** The only child of this process. */
function enginePid(): number {
  const { pid } = process;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function row(side: 'a' | 'b', pairs: readonly { readonly a: Taken; readonly b: Taken }[]) {
  const first = pairs.map((pair) => pair[side].firstMs);
  const cpu = pairs.map((pair) => pair[side].cpuMs);
  return {
    prompt: side === 'a' ? 'read during the greeting' : 'read when the caller has asked',
    'first word p50 ms': percentile(first, 50),
    'first word max ms': Math.max(...first),
    'processor p50 ms': percentile(cpu, 50),
  };
}
