/** Has Ollama download a model of its own, and follows how far it is. */
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { networkError, ServerTrouble } from './http-trouble.ts';
import { cancelled, ModelsError } from './models-error.ts';
import { StallWatch } from './stall-watch.ts';
import { plainText } from './wording.ts';

/** For the list of what it has. */
const CHECK_MS = 5000;

/** Ollama is silent while it checks gigabytes. */
const STALL_MS = 300_000;

/** A line of its answer is a few hundred bytes. */
const LINE_LENGTH_MAX = 64 * 1024;

const tagsSchema = z.object({ models: z.array(z.object({ name: z.string() })) });

/** @see Ollama API, "Pull a Model" */
const lineSchema = z.object({
  status: z.string().optional(),
  error: z.string().optional(),
  digest: z.string().optional(),
  total: z.number().nonnegative().optional(),
  completed: z.number().nonnegative().optional(),
});

type PullLine = z.infer<typeof lineSchema>;

export interface PullOptions {
  /** Such as `http://127.0.0.1:11434`. */
  readonly host: string;
  readonly model: string;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** `STALL_MS` unless given. */
  readonly stallMs?: number;
  /** Told how many bytes are there, of how many that are known so far. */
  onBytes(done: number, total: number): void;
}

/** Whether Ollama has the model already. @throws {ModelsError} when it does not answer. */
export async function hasOllamaModel(
  options: Pick<PullOptions, 'host' | 'model' | 'dispatcher' | 'clock' | 'signal'>,
): Promise<boolean> {
  const watch = new StallWatch({ ...options, stallMs: CHECK_MS });
  try {
    const answer = await ask(options, '/api/tags', { method: 'GET', signal: watch.signal });
    const { models } = tagsSchema.parse(await answer.json());
    const name = options.model.includes(':') ? options.model : `${options.model}:latest`;
    return models.some((model) => model.name === name);
  } catch (error) {
    throw pullError(watch.explain(error), options);
  } finally {
    watch.stop();
  }
}

/**
 * Downloads the model, if Ollama does not have it. Ollama checks what comes, and goes on where it stopped.
 *
 * @throws {ModelsError}
 */
export async function pullOllamaModel(options: PullOptions): Promise<'downloaded' | 'was-there'> {
  if (await hasOllamaModel(options)) return 'was-there';
  const { clock, signal, stallMs = STALL_MS } = options;
  const watch = new StallWatch({ clock, signal, stallMs });
  try {
    const answer = await ask(options, '/api/pull', {
      method: 'POST',
      signal: watch.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: options.model, stream: true }),
    });
    await follow(answer, () => watch.heard(), options);
    return 'downloaded';
  } catch (error) {
    throw pullError(watch.explain(error), options);
  } finally {
    watch.stop();
  }
}

async function ask(
  { host, dispatcher }: Pick<PullOptions, 'host' | 'dispatcher'>,
  path: string,
  init: Pick<Dispatcher.RequestOptions, 'method' | 'signal' | 'headers' | 'body'>,
): Promise<Dispatcher.ResponseData['body']> {
  const { statusCode, body } = await request(`${host.replace(/\/+$/, '')}${path}`, {
    ...init,
    dispatcher,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  if (statusCode === 200) return body;
  const text = (await body.text()).slice(0, 300);
  throw new ServerTrouble(`it answered ${statusCode}: ${plainText(text)}`);
}

async function follow(
  body: AsyncIterable<Uint8Array>,
  onHeard: () => void,
  options: PullOptions,
): Promise<void> {
  const layers = new Map<string, { readonly done: number; readonly total: number }>();
  let isDone = false;
  for await (const line of linesOf(body, onHeard)) {
    if (line.error !== undefined) throw new ServerTrouble(plainText(line.error).slice(0, 300));
    if (line.status === 'success') isDone = true;
    if (line.digest === undefined || line.total === undefined) continue;
    layers.set(line.digest, { done: line.completed ?? 0, total: line.total });
    const parts = [...layers.values()];
    options.onBytes(
      parts.reduce((sum, { done }) => sum + done, 0),
      parts.reduce((sum, { total }) => sum + total, 0),
    );
  }
  if (!isDone) throw new ServerTrouble('its answer broke off');
}

/** The objects of an answer with one JSON object a line. */
async function* linesOf(
  body: AsyncIterable<Uint8Array>,
  onHeard: () => void,
): AsyncGenerator<PullLine> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    onHeard();
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    if (text.length > LINE_LENGTH_MAX) throw new ServerTrouble('it does not speak like Ollama');
    for (const line of lines) if (line.trim() !== '') yield parseLine(line);
  }
  if (text.trim() !== '') yield parseLine(text);
}

function parseLine(line: string): PullLine {
  try {
    return lineSchema.parse(JSON.parse(line));
  } catch (error) {
    throw new ServerTrouble('it does not speak like Ollama', { cause: error });
  }
}

function pullError(
  error: unknown,
  { host, model, signal }: Pick<PullOptions, 'host' | 'model' | 'signal'>,
): ModelsError {
  if (signal.aborted) return cancelled(error);
  const { message } = error instanceof ServerTrouble ? error : networkError(error);
  return new ModelsError(
    'network',
    `Cannot have Ollama at "${host}" download "${model}": ${message}; start Ollama ("ollama serve"), or set OLLAMA_HOST to where it runs, and run the same command again`,
    { cause: error },
  );
}
