/** Dispatches each new request: to its dialog, to the application, or to a refusal. */
import type { DialogTable } from './dialog/dialog.ts';
import { refusalOfInterval } from './dialog/session-timer.ts';
import { SESSION_TYPES } from './message/session-body.ts';
import { faultOf } from './message/status.ts';
import { uriScheme } from './message/uri.ts';
import { newResponse, type ResponseParts, type ServerRequest } from './own-messages.ts';
import { ALLOW, checkRequest, SERVED_BY_REGISTRAR } from './parser/request-check.ts';
import { ServerInvite } from './server-invite.ts';
import type { Arrival } from './transaction/transaction-layer.ts';
import { RETRY_AFTER_SECONDS } from './transport/transport-layer.ts';
import type { EngineContext } from './user-agent-options.ts';

const LATER = { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } };

interface RequestDispatcherOptions {
  readonly context: EngineContext;
  readonly dialogs: DialogTable;
  /** Returns whether a listener took it, as does `onRequest`. */
  readonly onInvite: (invite: ServerInvite) => boolean;
  readonly onRequest: (request: ServerRequest) => boolean;
}

/** Routes requests by dialog and method. */
export class RequestDispatcher {
  readonly #options: RequestDispatcherOptions;
  #isDraining = false;

  constructor(options: RequestDispatcherOptions) {
    this.#options = options;
  }

  drain(): void {
    this.#isDraining = true;
  }

  resume(): void {
    this.#isDraining = false;
  }

  dispatch(arrival: Arrival): void {
    const refusal = checkRequest(arrival.request, SERVED_BY_REGISTRAR);
    if (refusal !== undefined) {
      const { status, reason } = refusal;
      this.#refuse(arrival, status, { reason, headers: Object.fromEntries(refusal.headers) });
      return;
    }
    if (isInsecure(arrival)) {
      this.#refuse(arrival, 416);
      return;
    }
    const fault = faultOf(() => this.#serve(arrival));
    if (fault !== undefined) this.#refuse(arrival, fault.status, { reason: fault.message });
  }

  #serve(arrival: Arrival): void {
    const { request, ids } = arrival;
    if (request.method === 'REGISTER') {
      if (!this.#offer(arrival)) this.#refuse(arrival, 405, { headers: { Allow: ALLOW } });
      return;
    }
    if (ids.toTag !== '') {
      const dialog = this.#options.dialogs.ofRequest(ids);
      if (dialog === undefined) this.#refuse(arrival, 481);
      else dialog.receive(arrival);
      return;
    }
    switch (request.method) {
      case 'INVITE':
        this.#serveInvite(arrival);
        break;
      case 'OPTIONS':
        this.#serveOptions(arrival);
        break;
      case 'BYE':
      case 'PRACK':
      case 'UPDATE':
        this.#refuse(arrival, 481);
        break;
      default:
        if (!this.#offer(arrival)) this.#refuse(arrival, 481);
    }
  }

  #serveInvite(arrival: Arrival): void {
    const { context, dialogs, onInvite } = this.#options;
    if (this.#isDraining) {
      this.#refuse(arrival, 503, LATER);
      return;
    }
    const refusal = refusalOfInterval(arrival.request, context.sessionTimer);
    if (refusal !== undefined) {
      this.#refuse(arrival, 422, refusal);
      return;
    }
    const invite = new ServerInvite({ context, dialogs, arrival });
    if (!onInvite(invite)) invite.reject(480);
    invite.limitRinging();
  }

  #serveOptions(arrival: Arrival): void {
    if (!this.#isDraining) {
      this.#answer(arrival, 200, { headers: { Accept: SESSION_TYPES } });
      return;
    }
    this.#refuse(arrival, 503, LATER);
  }

  /** Whether the application takes it. */
  #offer(arrival: Arrival): boolean {
    const { request, flow } = arrival;
    const respond = (status: number, parts: ResponseParts = {}) =>
      this.#answer(arrival, status, parts);
    return this.#options.onRequest({ request, flow, respond });
  }

  #refuse(arrival: Arrival, status: number, parts: ResponseParts = {}): void {
    this.#options.context.stats.reject(status);
    this.#answer(arrival, status, parts);
  }

  #answer({ request, flow, transaction }: Arrival, status: number, parts: ResponseParts) {
    const { product, tokens } = this.#options.context;
    const response = newResponse({ request, status, tag: tokens.tag(), flow, product, parts });
    transaction.respond(response);
    return response;
  }
}

/**
 * Whether a `sips` address is requested over a transport without security. A stream may have been secured by a proxy
 * that terminates TLS. RFC 3261, 26.2.2.
 */
function isInsecure({ request, flow }: Arrival): boolean {
  return flow.protocol === 'UDP' && uriScheme(request.uri) === 'sips';
}
