/** `/api/live/calls/{callId}/audio`: streams the sound of a call in progress; drops sound when the client is too slow. */

import { z } from '@hono/zod-openapi';
import type { Call } from '../../domain/call/call.ts';
import type { Listening } from '../../domain/call/live-sound.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf, scopeOf } from '../api-env.ts';
import { isKeyAlive } from '../http/access.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';

/** Two seconds of sound, so that a short delay of the network loses nothing. */
const WAITING_BYTES_MAX = 64 * 1024;

const CHECK_MS = 500;

interface SoundStreamOptions {
  readonly clock: Clock;
  /** Asked twice a second; the stream ends when it says no, such as when the key was revoked, and when it fails. */
  readonly mayGoOn: () => Promise<boolean>;
  /** Called once, however the stream ends. */
  readonly onEnded: () => void;
}

/** Response body without an end of its own. */
export class SoundStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: SoundStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #checkedAtMs: number;

  constructor(options: SoundStreamOptions) {
    this.#options = options;
    this.#checkedAtMs = options.clock.nowMs();
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#letGo(),
      },
      { highWaterMark: WAITING_BYTES_MAX, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  /** Sends a piece whole, or leaves it out. It must not be changed afterwards. */
  send(bytes: Uint8Array): void {
    this.#check();
    const controller = this.#controller;
    if (controller === undefined) return;
    if ((controller.desiredSize ?? 0) >= bytes.byteLength) controller.enqueue(bytes);
  }

  /** Ends the stream; sound that was sent still arrives. Safe to call twice. */
  end(): void {
    const controller = this.#controller;
    this.#letGo();
    controller?.close();
  }

  #check(): void {
    const { clock, mayGoOn } = this.#options;
    if (clock.nowMs() - this.#checkedAtMs < CHECK_MS) return;
    this.#checkedAtMs = clock.nowMs();
    // An error, such as of the database, counts as a no.
    void mayGoOn()
      .catch(() => false)
      .then((mayGo) => (mayGo ? undefined : this.end()));
  }

  #letGo(): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#options.onEnded();
  }
}

/** An estimate of when another listener leaves. */
const RETRY_AFTER_SECONDS = 10;

const listenRoute = describeRoute('get', '/api/live/calls/{callId}/audio', {
  tag: 'Calls',
  scope: 'calls:read',
  operationId: 'listenToCall',
  summary: 'Sends what is heard on a call, as it is heard',
  description: [
    'An endless WAV (8 kHz, 16-bit, stereo: caller left, agent right; both sizes in its header are 0xFFFFFFFF), in pieces of about 100 ms, from',
    'now until the call ends, about 0.2 s late. A client that reads too slowly loses sound. Neither side hears that somebody listens. 409 where the call',
    'is not in progress, or is a simulated one; 429 where 5 listen to it, or 20 to calls of the server, already. Opening it counts as one request.',
  ].join(' '),
  responses: {
    200: {
      description: 'The sound.',
      content: { 'audio/wav': { schema: z.string().openapi({ format: 'binary' }) } },
    },
  },
  errors: [409],
});

/** Adds the sound of a call in progress as a stream of PCM. */
export function addListeningRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(listenRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const call = existing(await deps.calls.find(scopeOf(context), callId), 'call');
    if (call.status !== 'in_progress') throw notInProgress();
    context.header('Content-Type', 'audio/wav');
    context.header('Cache-Control', 'no-store');
    // Proxies such as nginx would collect the sound otherwise.
    context.header('X-Accel-Buffering', 'no');
    if (context.req.method === 'HEAD') return context.body(null, 200);
    return context.body((await openSound(context, deps, call)).body, 200);
  });
}

/** @throws {ServiceError} CONFLICT or RATE_LIMITED when the call cannot be listened to now. */
function openSound(context: ApiContext, deps: ApiDeps, call: Call): SoundStream {
  const { clock, liveSound, log } = deps;
  const { apiKey } = callerOf(context);
  let stop: () => void = () => undefined;
  const stream = new SoundStream({
    clock,
    mayGoOn: () => isKeyAlive(apiKey, deps),
    onEnded: () => stop(),
  });
  const listening = liveSound.listen(call.id, {
    onSound: (pcm) => stream.send(pcm),
    onOver: () => stream.end(),
  });
  if (listening.kind !== 'begun') throw refusal(context, listening);
  stop = listening.stop;
  // The parties of the call cannot notice a listener, so the log must tell.
  log.info({ callId: call.id, keyId: apiKey.id }, 'somebody listens to a call');
  stream.send(listening.header);
  return stream;
}

function refusal(
  context: ApiContext,
  listening: Exclude<Listening, { kind: 'begun' }>,
): ServiceError {
  switch (listening.kind) {
    case 'not-in-progress':
      return notInProgress();
    case 'simulated':
      return new ServiceError('CONFLICT', 'Cannot listen to the call: it is a simulated one');
    case 'full':
      context.header('Retry-After', String(RETRY_AFTER_SECONDS));
      return new ServiceError('RATE_LIMITED', `Cannot listen to the call: ${listening.why}`);
    default:
      return listening satisfies never;
  }
}

function notInProgress(): ServiceError {
  return new ServiceError('CONFLICT', 'Cannot listen to the call: it is not in progress');
}
