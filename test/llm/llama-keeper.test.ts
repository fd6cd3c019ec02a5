/** The life of the process with the weights, on a clock that is turned by hand. */
import { expect, test } from 'vitest';
import {
  type FromLlama,
  LlamaKeeper,
  type LlamaProcess,
  type ToLlama,
} from '../../src/llm/llama-cpp/llama-keeper.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const ORDER = { folder: '/llama', file: '/m.gguf', contextTokens: 8192, sequences: 1 };

/** A process that does what the test says. */
class PuppetProcess implements LlamaProcess {
  readonly sent: ToLlama[] = [];
  readonly #exits: ((how: string) => void)[] = [];
  tell: (message: FromLlama) => void = () => undefined;

  send(message: ToLlama): void {
    this.sent.push(message);
  }

  onMessage(listener: (message: FromLlama) => void): void {
    this.tell = listener;
  }

  onExit(listener: (how: string) => void): void {
    this.#exits.push(listener);
  }

  kill(): void {
    this.die('signal SIGKILL');
  }

  die(how: string): void {
    for (const exit of this.#exits.splice(0)) exit(how);
  }
}

function openKeeper() {
  const clock = new FakeClock();
  const processes: PuppetProcess[] = [];
  const downs: string[] = [];
  const keeper = new LlamaKeeper({
    fork: () => {
      const process = new PuppetProcess();
      processes.push(process);
      return process;
    },
    clock,
    order: ORDER,
    onMessage: () => undefined,
    onDown: (how) => downs.push(how),
  });
  return { clock, processes, downs, keeper };
}

test('LlamaKeeper starts one process for all who ask, and has it load the model', async () => {
  const { keeper, processes } = openKeeper();

  const both = [keeper.ready(), keeper.ready()];
  processes[0]?.tell({ kind: 'loaded', contextTokens: 4096 });
  await Promise.all(both);

  expect(processes.map(({ sent }) => sent)).toEqual([[{ kind: 'load', order: ORDER }]]);
  expect(keeper.contextTokens).toBe(4096);
});

test('LlamaKeeper starts another process at once when one dies that has lived for 10 s', async () => {
  const { clock, downs, keeper, processes } = openKeeper();
  const ready = keeper.ready();
  processes[0]?.tell({ kind: 'loaded', contextTokens: 4096 });
  await ready;

  clock.advance(10_000);
  processes[0]?.die('signal SIGSEGV');
  processes[1]?.tell({ kind: 'loaded', contextTokens: 4096 });

  await expect(keeper.ready()).resolves.toBeUndefined();
  expect(processes).toHaveLength(2);
  expect(downs).toEqual(['signal SIGSEGV']);
});

test('LlamaKeeper leaves what died young alone for 10 s', async () => {
  const { clock, keeper, processes } = openKeeper();
  const ready = keeper.ready();
  processes[0]?.tell({ kind: 'loaded', contextTokens: 4096 });
  await ready;

  clock.advance(9999);
  processes[0]?.die('signal SIGSEGV');
  const early = keeper.ready();
  clock.advance(10_000);
  const late = keeper.ready();
  processes[1]?.tell({ kind: 'loaded', contextTokens: 4096 });

  await expect(early).rejects.toThrow('its process ended with signal SIGSEGV');
  await expect(late).resolves.toBeUndefined();
  expect(processes).toHaveLength(2);
});

test('LlamaKeeper says why a model cannot be loaded, and tries again after 10 s', async () => {
  const { clock, keeper, processes } = openKeeper();

  const first = keeper.ready();
  processes[0]?.tell({ kind: 'not-loaded', reason: 'not a GGUF file' });
  await expect(first).rejects.toThrow('not a GGUF file');
  await expect(keeper.ready()).rejects.toThrow('not a GGUF file');
  clock.advance(10_000);
  const again = keeper.ready();
  processes[1]?.tell({ kind: 'loaded', contextTokens: 2048 });

  await expect(again).resolves.toBeUndefined();
});

test('LlamaKeeper leaves a model alone for 10 s after each failure, not only after the first', async () => {
  const { clock, keeper, processes } = openKeeper();
  const first = keeper.ready();
  processes[0]?.tell({ kind: 'not-loaded', reason: 'not a GGUF file' });
  await expect(first).rejects.toThrow('not a GGUF file');

  clock.advance(10_000);
  const second = keeper.ready();
  processes[1]?.die('signal SIGSEGV');
  const third = keeper.ready();

  await expect(second).rejects.toThrow('its process ended with signal SIGSEGV');
  await expect(third).rejects.toThrow('its process ended with signal SIGSEGV');
  expect(processes).toHaveLength(2);
});

test('LlamaKeeper ends a process that loads for longer than five minutes', async () => {
  const { clock, keeper } = openKeeper();

  const ready = keeper.ready();
  clock.advance(300_000);

  await expect(ready).rejects.toThrow('not ready after 300000 ms');
});

test('LlamaKeeper ends a process by force that does not let go within 1.5 s, and starts no other', async () => {
  const { clock, keeper, processes } = openKeeper();
  const ready = keeper.ready();
  processes[0]?.tell({ kind: 'loaded', contextTokens: 4096 });
  await ready;

  const stopped = keeper.stop();
  clock.advance(1500);
  await stopped;

  expect(processes[0]?.sent.at(-1)).toEqual({ kind: 'stop' });
  expect(processes).toHaveLength(1);
  await expect(keeper.ready()).rejects.toThrow('the server stops');
});
