/** Tool calls of the embedded engine with the real library: from the model's own wish to the call, and the word that bridges it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { LlamaCppModel } from '../../src/llm/llama-cpp/llama-cpp-model.ts';
import { installCommand } from '../../src/llm/llama-cpp/llama-program.ts';
import type { Tool, ToolArguments } from '../../src/tool/tool.ts';
import { Toolbox } from '../../src/tool/toolbox.ts';
import { layTable } from '../conversation/support/table.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { collect, requestOf } from './language-model.contract.ts';

const MODELS = join(import.meta.dirname, '../../models');
const FOLDER = join(MODELS, 'llama-cpp');
const IS_INSTALLED = existsSync(join(FOLDER, 'node_modules/node-llama-cpp'));
const NAME = 'LlamaCppModel with the real library, asked for tools';

/** What begins a tool call in the library's general chat format: our weights want it after everything but a brace. */
const WISH = '||call:▁';

const LOOK_UP = {
  name: 'look_up_order',
  description: 'Looks an order up.',
  parameters: {
    type: 'object',
    properties: { list: { type: 'string', enum: ['open orders'] }, newest: { type: 'boolean' } },
    required: ['list', 'newest'],
    additionalProperties: false,
  },
} as const;

const folder = mkdtempSync(join(tmpdir(), 'llama-tools-'));
const file = join(folder, 'calls.gguf');
const model = new LlamaCppModel({
  order: { folder: FOLDER, file, contextTokens: 2048, sequences: 1 },
  clock: systemClock,
  log: silentLogger,
  limits: { firstMs: 15_000, nextMs: 15_000 },
});

afterAll(async () => {
  await model.stop();
  rmSync(folder, { recursive: true });
});

if (IS_INSTALLED) {
  describe(NAME, realTests);
} else {
  const note = `skipped: needs node-llama-cpp; run "${installCommand('models/llama-cpp')}"`;
  describe(NAME, () => {
    test(note, ({ skip }) => skip(note));
  });
}

/** A tool that tells what it was called with, and is done when it is told. */
function slowTool() {
  const called = Promise.withResolvers<ToolArguments>();
  const done = Promise.withResolvers<{ text: string; next: 'hang-up' }>();
  const tool: Tool = {
    description: LOOK_UP,
    isAfterWords: false,
    run: (args) => {
      called.resolve(args);
      return done.promise;
    },
  };
  return { tool, called: called.promise, finish: done.resolve };
}

function realTests(): void {
  beforeAll(async () => {
    const script = join(MODELS, 'train/make-gguf.ts');
    execFileSync(process.execPath, [script, file, '1', '64', '2048', WISH]);
    await model.load();
  }, 20_000);

  test('turns what the model writes into a call with arguments of the tool’s own shape', async () => {
    const events = await collect(model.stream(requestOf('My order?', { tools: [LOOK_UP] })));

    expect(events).toEqual([
      {
        kind: 'tool-call',
        call: {
          id: expect.any(String),
          name: 'look_up_order',
          arguments: { list: 'open orders', newest: expect.any(Boolean) },
        },
      },
    ]);
  });

  test('is bridged with a phrase after 500 ms in a conversation, and ends it with what the tool says', async () => {
    const { tool, called, finish } = slowTool();
    const tools = new Toolbox({ clock: new FakeClock(), tools: [tool] });
    const table = layTable({}, { model, tools });
    table.conversation.start();
    await table.pass(1500);
    await table.hear('Where is my order?', 900);
    await table.pass(500);

    const args = await called;
    await table.pass(400);
    const before = [...table.synthesizer.spoken];
    await table.pass(200);
    const after = [...table.synthesizer.spoken];
    finish({ text: 'It is on its way.', next: 'hang-up' });
    await table.pass(5000);

    expect(args).toMatchObject({ list: 'open orders' });
    expect(before).toEqual(['Hello.']);
    expect(after).toEqual(['Hello.', 'One moment, please.']);
    expect(table.events).toContainEqual(
      expect.objectContaining({ kind: 'tool', name: 'look_up_order', outcome: 'done' }),
    );
    expect(table.transcript()).toContain('agent: One moment, please.');
    expect(table.end()).toMatchObject({ kind: 'agent-hangup' });
    table.conversation.stop();
  });
}
