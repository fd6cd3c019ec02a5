/** The embedding model's process under its parent: loaded, killed, hung, overtaken by questions, and not there. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { forkChild } from '../../src/lib/process/child-supervisor.ts';
import type {
  FromEmbeddingChild,
  ToEmbeddingChild,
} from '../../src/llm/embeddings/onnx/embedding-child.ts';
import {
  type EmbeddingProcess,
  OnnxEmbedder,
} from '../../src/llm/embeddings/onnx/onnx-embedder.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { makeEmbeddingModel } from './support/tiny-embedding-model.ts';

const CHILD = new URL('../../src/llm/embeddings/onnx/embedding-child.ts', import.meta.url);

const LOST_MS = 20_000;

const asked = (role: 'query' | 'passage', signal = AbortSignal.timeout(LOST_MS)) => ({
  role,
  signal,
});

/** @param name of the model. */
function openReal(name = 'tiny') {
  const { modelsDir, folder } = makeEmbeddingModel(name);
  const processes: EmbeddingProcess[] = [];
  const fork = (): EmbeddingProcess => {
    const child = forkChild<ToEmbeddingChild, FromEmbeddingChild>(CHILD);
    processes.push(child);
    return child;
  };
  const embedder = embedderOf({ model: name, modelsDir, fork });
  return { embedder, folder, processes };
}

function embedderOf(options: {
  readonly model: string;
  readonly modelsDir: string;
  readonly fork: () => EmbeddingProcess;
  readonly clock?: Clock;
}) {
  const embedder = new OnnxEmbedder({ clock: systemClock, log: silentLogger, ...options });
  onTestFinished(() => embedder.stop());
  return embedder;
}

/** A process that answers only when the test says so. */
function openScripted() {
  const { modelsDir } = makeEmbeddingModel('tiny');
  const clock = new FakeClock();
  const texts: string[] = [];
  let pending: number | undefined;
  let forks = 0;
  let kills = 0;
  let tell: (message: FromEmbeddingChild) => void = () => undefined;
  const fork = (): EmbeddingProcess => {
    forks += 1;
    const exits: ((how: string) => void)[] = [];
    const exit = (how: string) => exits.splice(0).forEach((listener) => void listener(how));
    return {
      send: (message) => {
        if (message.kind === 'load') queueMicrotask(() => tell({ kind: 'loaded' }));
        if (message.kind === 'stop') exit('exit code 0');
        if (message.kind !== 'embed') return;
        texts.push(message.text);
        pending = message.request;
      },
      onMessage: (listener) => {
        tell = listener;
      },
      onExit: (listener) => exits.push(listener),
      kill: () => {
        kills += 1;
        exit('signal SIGKILL');
      },
    };
  };
  const answer = () => {
    if (pending === undefined) throw new Error('nothing was asked');
    tell({ kind: 'vector', request: pending, vector: Float32Array.of(1) });
  };
  const embedder = embedderOf({ model: 'tiny', modelsDir, fork, clock });
  return { embedder, clock, texts, answer, counts: () => ({ forks, kills }) };
}

test('embed gives a vector for each passage, and for questions once the model is loaded', async () => {
  const { embedder, processes } = openReal();

  const early = embedder.embed(['How expensive?'], asked('query'));
  await expect(early).rejects.toThrow('Cannot use "onnx/tiny": it is not loaded yet');
  const vectors = await embedder.embed(['ninety euros', 'open'], asked('passage'));
  const [question] = await embedder.embed(['expensive'], asked('query'));

  expect(vectors.map((vector) => vector.length)).toEqual([5, 5]);
  expect(question?.[1]).toBeGreaterThan(0.9);
  expect(processes).toHaveLength(1);
  expect(embedder.problem).toBeUndefined();
});

test('embed puts before a text what the model wants by its name', async () => {
  const { embedder } = openReal('multilingual-e5-tiny');

  const [passage] = await embedder.embed(['cat'], asked('passage'));

  // The first direction is the one of the words "passage" and ":".
  expect(passage?.[0]).toBeGreaterThan(0.5);
});

test('a process that is killed is replaced, and what it was asked fails with its end', async () => {
  const { embedder, processes } = openReal();
  await embedder.embed(['cat'], asked('passage'));

  processes[0]?.kill();
  const lost = embedder.embed(['cat'], asked('query'));
  await expect(lost).rejects.toThrow('its process ended with signal SIGKILL');
  const problem = embedder.problem;
  await expect.poll(() => embedder.problem, { timeout: LOST_MS }).toBeUndefined();
  const [again] = await embedder.embed(['cat'], asked('query'));

  expect(problem).toBe('Cannot use "onnx/tiny": its process is being started again');
  expect(again?.[3]).toBeGreaterThan(0.9);
  expect(processes).toHaveLength(2);
});

test('a model that is not there is told with the command that downloads it, and found once it is', async () => {
  const { embedder, folder } = openReal();
  renameSync(folder, `${folder}-away`);
  const missing = embedder.embed(['cat'], asked('passage'));

  await expect(missing).rejects.toThrow(`no model in "${folder}"`);
  await expect(missing).rejects.toThrow('"npm run models -- --only tiny"');
  renameSync(`${folder}-away`, folder);

  expect(await embedder.embed(['cat'], asked('passage'))).toHaveLength(1);
});

test('a file that is missing is told by its path', async () => {
  const { embedder, folder } = openReal();
  const graph = join(folder, 'onnx', 'model_quantized.onnx');
  renameSync(graph, `${graph}.part`);

  await expect(embedder.embed(['cat'], asked('passage'))).rejects.toThrow(
    /onnx\/model.onnx": there is no such file.*npm run models -- --only tiny/,
  );
});

test('a question overtakes passages that wait, and one whose wait is over is not asked', async () => {
  const { embedder, texts, answer } = openScripted();
  const passages = embedder.embed(['first', 'second', 'third'], asked('passage'));
  await expect.poll(() => texts).toEqual(['first']);
  const late = new AbortController();

  const lost = embedder.embed(['too late'], asked('query', late.signal));
  const question = embedder.embed(['question'], asked('query'));
  late.abort(new Error('over'));
  await expect(lost).rejects.toThrow('over');
  for (let round = 0; round < 4; round += 1) answer();

  expect(await question).toEqual([Float32Array.of(1)]);
  expect(await passages).toHaveLength(3);
  expect(texts).toEqual(['first', 'question', 'second', 'third']);
});

test('a process that does not answer within the time of a text is killed', async () => {
  const { embedder, clock, texts, counts } = openScripted();
  const passages = embedder.embed(['cat'], asked('passage'));
  await expect.poll(() => texts).toEqual(['cat']);

  clock.advance(9_999);
  expect(counts()).toEqual({ forks: 1, kills: 0 });
  clock.advance(1);

  await expect(passages).rejects.toThrow('its process ended with signal SIGKILL');
  // It was well for ten seconds, so that the next one starts at once.
  clock.advance(0);
  expect(counts()).toEqual({ forks: 2, kills: 1 });
});

test('more texts than may wait are refused at once', async () => {
  const { embedder, texts } = openScripted();
  const many = (count: number) => Array.from({ length: count }, (_, at) => `text ${at}`);
  const waiting = embedder.embed(many(200), asked('passage'));
  waiting.catch(() => undefined);
  await expect.poll(() => texts).toHaveLength(1);

  await expect(embedder.embed(many(2), asked('query'))).rejects.toThrow('199 texts wait');
});

test('stop ends pending requests, and starts nothing afterwards', async () => {
  const { embedder, texts, counts } = openScripted();
  const passages = embedder.embed(['cat'], asked('passage'));
  await expect.poll(() => texts).toEqual(['cat']);

  const stopped = embedder.stop();
  await expect(passages).rejects.toThrow('the server stops');
  await stopped;
  await embedder.stop();

  await expect(embedder.embed(['cat'], asked('passage'))).rejects.toThrow('the server stops');
  expect(counts()).toEqual({ forks: 1, kills: 0 });
});
