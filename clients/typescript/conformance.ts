/** Driver of the conformance test. @see clients/conformance/README.md */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Command } from '../conformance/driver.ts';
import { Offhook, OffhookError, webhooks } from './src/index.ts';

type Method = (...words: readonly unknown[]) => unknown;
type CallCommand = Extract<Command, { operation: string }>;

let client: Offhook | undefined;

async function run(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'open':
      client = opened(command);
      return null;
    case 'call':
      return readable(await invoke(command));
    case 'list':
      return firstOf(invoke(command) as AsyncIterable<unknown>, command.max);
    case 'stream':
      return firstOf(invoke(command) as AsyncIterable<unknown>, command.count);
    case 'verify': {
      const { body, headers, secret, now } = command;
      return webhooks.verify(body, headers, secret, now * 1000);
    }
    default:
      return command satisfies never;
  }
}

function opened(command: Extract<Command, { do: 'open' }>): Offhook {
  const { apiKey, baseUrl, maxRetries, maxResponseBytes } = command;
  const { timeoutSeconds, maxRetryAfterSeconds } = command;
  return new Offhook({
    ...{ apiKey, baseUrl },
    ...(maxRetries === undefined ? {} : { maxRetries }),
    ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
    ...(maxRetryAfterSeconds === undefined ? {} : { maxRetryAfterMs: maxRetryAfterSeconds * 1000 }),
  });
}

/** Calls the method that the command names. */
function invoke({ operation, path = [], body, query, options = {} }: CallCommand): unknown {
  const [resource = '', verb = ''] = operation.split('.');
  const target = Object(client)[resource];
  const method = Object(target)[verb] as Method | undefined;
  if (typeof method !== 'function') throw new TypeError(`No method "${operation}"`);
  const { timeoutSeconds, ...others } = options;
  const words = [
    ...path,
    ...(body === undefined ? [] : [body]),
    ...(query === undefined ? [] : [query]),
    timeoutSeconds === undefined ? others : { ...others, timeoutMs: timeoutSeconds * 1000 },
  ];
  return method.apply(target, words);
}

async function firstOf(items: AsyncIterable<unknown>, count: number): Promise<readonly unknown[]> {
  const first: unknown[] = [];
  for await (const item of items) {
    first.push(item);
    if (first.length === count) break;
  }
  return first;
}

/** A download by what it has; anything else as it is. */
async function readable(value: unknown): Promise<unknown> {
  const { contentType, bytes } = Object(value);
  if (typeof bytes !== 'function') return value ?? null;
  const whole: Uint8Array = await bytes.call(value);
  const sha256 = createHash('sha256').update(whole).digest('hex');
  return { contentType, sizeBytes: whole.byteLength, sha256 };
}

function errorOf(error: unknown): object {
  if (!(error instanceof OffhookError)) throw error;
  const { name, message, status } = error;
  const none = { code: null, requestId: null, retryAfterSeconds: null, details: [], reason: null };
  return { ...none, ...error, kind: name.replace(/Error$/, ''), message, status };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line)).then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error: errorOf(error) }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
