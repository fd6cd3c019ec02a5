/** Takes each request through its guards to its route, and says how that ended. */

import type { ApiDeps, Guard } from '../api-env.ts';
import type { ApiAnswer } from './api-answer.ts';
import type { ApiRequest } from './api-request.ts';
import type { CheckedRoutes, Route } from './checked-routes.ts';
import { errorHandler, notFound } from './errors.ts';
import { RequestContext } from './request-context.ts';
import { commonHeaders, tellOf } from './request-identity.ts';
import type { Found } from './route-tree.ts';

type MaybePromise<Value> = Value | Promise<Value>;

type DispatcherDeps = Pick<ApiDeps, 'clock' | 'log' | 'metrics' | 'newId' | 'publicUrl'>;

/** Makes no promise for a request whose guards and route make none. */
export class Dispatcher {
  readonly routes: CheckedRoutes;
  readonly #deps: DispatcherDeps;
  readonly #headers: readonly string[];
  readonly #answerError: ReturnType<typeof errorHandler>;

  constructor(routes: CheckedRoutes, deps: DispatcherDeps) {
    this.routes = routes;
    this.#deps = deps;
    this.#headers = commonHeaders(deps);
    this.#answerError = errorHandler(deps.log);
  }

  /** Answers a request, whatever goes wrong. Never throws. */
  readonly answer = (request: ApiRequest): MaybePromise<ApiAnswer> => {
    const { clock, newId } = this.#deps;
    const startMs = clock.nowMs();
    const found = this.routes.find(request.method, request.path);
    const context = new RequestContext(request, {
      requestId: newId('req'),
      params: found?.params ?? NO_PARAMS,
      headers: this.#headers,
    });
    const done = (answer: ApiAnswer) => {
      const { requestId } = context;
      const { method } = request;
      const { status } = answer;
      const durationMs = clock.nowMs() - startMs;
      const route = found?.route.path ?? 'unmatched';
      tellOf({ requestId, method, route, status, durationMs }, this.#deps);
      return method === 'HEAD' ? { ...answer, body: null } : answer;
    };
    const failed = (error: unknown) => done(this.#answerError(error, context));
    try {
      const answer = this.#run(context, found);
      return answer instanceof Promise ? answer.then(done, failed) : done(answer);
    } catch (error) {
      return failed(error);
    }
  };

  #run(context: RequestContext, found: Found<Route> | undefined): MaybePromise<ApiAnswer> {
    const { path } = context.request;
    if (found !== undefined) {
      const { guards, answer } = found.route;
      return passing(guards, context, () => answer(context));
    }
    return passing(this.routes.guardsOf(path), context, () => {
      throw notFound(context, this.routes.methodsOf(path));
    });
  }
}

const NO_PARAMS = {};

/** Goes on when all guards have let the request through, one after the other. */
function passing(
  guards: readonly Guard[],
  context: RequestContext,
  goOn: () => MaybePromise<ApiAnswer>,
  first = 0,
): MaybePromise<ApiAnswer> {
  for (let index = first; index < guards.length; index += 1) {
    const waiting = guards[index]?.(context);
    if (waiting !== undefined) {
      return waiting.then(() => passing(guards, context, goOn, index + 1));
    }
  }
  return goOn();
}
