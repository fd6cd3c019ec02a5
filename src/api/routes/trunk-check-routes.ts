/** `/api/trunks/{trunkName}/check`: checks a SIP trunk, and answers at the end, or step by step over Server-Sent Events. */
import { z } from '@hono/zod-openapi';
import { accepts } from 'hono/accepts';
import type { TrunkCheckProgress, TrunkCheckWatch } from '../../domain/dialing/trunk.ts';
import { noTrunk } from '../../domain/dialing/trunk-changes.ts';
import { type ApiApp, type ApiContext, type ApiDeps, callerOf } from '../api-env.ts';
import { NEEDS_OPERATOR_KEY, requireOperator } from '../http/access.ts';
import { answerOnce } from '../http/answer-once.ts';
import { describeRoute } from '../http/describe-route.ts';
import { errorBody, serviceErrorOf } from '../http/errors.ts';
import { type EventStream, sendEvents } from '../http/event-stream.ts';
import { isKeyAlive } from '../http/key-cache.ts';
import { errorSchema } from '../schemas/error-schema.ts';
import {
  type TrunkCheckEvent,
  trunkCheckEventSchema,
  trunkCheckSchema,
  trunkPathSchema,
} from '../schemas/trunk-schemas.ts';

/** A check takes seconds, 25 at most. */
const CHECK_RETRY_SECONDS = 10;

const checkRoute = describeRoute({
  tag: 'Trunks',
  scope: 'admin',
  operationId: 'checkTrunk',
  method: 'post',
  path: '/api/trunks/{trunkName}/check',
  summary: 'Checks a SIP trunk step by step',
  description: [
    'Resolves the proxy, connects, sends OPTIONS, and REGISTER where the trunk registers, without changing the registration. Each step says what is wrong and what to do.',
    'Takes up to 25 s where the carrier is silent. 503 with Retry-After while too many checks are in progress. With `Accept: text/event-stream` the answer is a stream of',
    'Server-Sent Events, the `data` of each JSON (schema `TrunkCheckEvent`): `progress` at each change, with all steps in their order; in the end `check`, the result, or `failed`,',
    `an error. Closing the connection stops the check. A stream is not kept for the idempotency key: a second request checks again. ${NEEDS_OPERATOR_KEY}`,
  ].join(' '),
  request: { params: trunkPathSchema },
  responses: {
    200: {
      description: 'What was found.',
      content: {
        'application/json': { schema: trunkCheckSchema },
        'text/event-stream': { schema: z.string() },
      },
    },
  },
});

export function addTrunkCheckRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openAPIRegistry.register('TrunkCheckEvent', trunkCheckEventSchema);

  api.openapi(checkRoute, async (context) => {
    await requireOperator(context, deps);
    const { trunkName: name } = context.req.valid('param');
    context.set('retryAfterSeconds', CHECK_RETRY_SECONDS);
    if (wantsEvents(context)) return streamCheck(context, deps, name);
    return answerOnce(context, deps, {
      work: async () => ({ status: 200, body: await checked(deps, name) }),
    });
  });
}

/** JSON unless the client prefers the stream. */
function wantsEvents(context: ApiContext): boolean {
  const [json, events] = ['application/json', 'text/event-stream'];
  return accepts(context, { header: 'Accept', supports: [json, events], default: json }) === events;
}

/** @throws {ServiceError} NOT_FOUND without a trunk of that name; SERVICE_UNAVAILABLE while too many checks are in progress. */
async function checked({ trunkControl }: ApiDeps, name: string, watch?: TrunkCheckWatch) {
  const check = await trunkControl.check(name, watch);
  if (check === undefined) throw noTrunk(name);
  return trunkCheckSchema.parse(check);
}

async function streamCheck(context: ApiContext, deps: ApiDeps, name: string): Promise<Response> {
  const { apiKey } = callerOf(context);
  const stopped = new AbortController();
  const { signal } = stopped;
  const begun = Promise.withResolvers<void>();
  const feed = new CheckFeed();
  const onProgress = (steps: readonly TrunkCheckProgress[]) => {
    feed.progress(steps);
    begun.resolve();
  };
  const checking = checked(deps, name, { onProgress, signal });
  // Before the response begins: a check that is refused must have the status of its error.
  await Promise.race([begun.promise, checking]);
  const options = {
    clock: deps.clock,
    mayGoOn: () => isKeyAlive(apiKey, deps),
    onEnded: () => stopped.abort(),
  };
  return sendEvents(context, options, (events) => {
    feed.begin(events);
    void checking.then(
      (check) => feed.end({ event: 'check', data: check }),
      (error: unknown) => {
        // It was stopped because the stream had ended: there is no client to tell.
        if (signal.aborted) return;
        const requestId = context.get('requestId');
        deps.log.error({ err: error, requestId }, 'http: check of a trunk failed');
        const told = errorSchema.parse(errorBody(serviceErrorOf(error), requestId));
        feed.end({ event: 'failed', data: told });
      },
    );
  });
}

/** Sends what is known so far when the stream begins, then each change. */
class CheckFeed {
  #newest: readonly TrunkCheckProgress[] | undefined;
  #events: EventStream | undefined;

  progress(steps: readonly TrunkCheckProgress[]): void {
    this.#newest = steps;
    this.#send({ event: 'progress', data: { steps: [...steps] } });
  }

  begin(events: EventStream): void {
    this.#events = events;
    if (this.#newest !== undefined) this.progress(this.#newest);
  }

  end(last: TrunkCheckEvent): void {
    this.#send(last);
    this.#events?.end();
  }

  #send({ event, data }: TrunkCheckEvent): void {
    this.#events?.send(event, data);
  }
}
