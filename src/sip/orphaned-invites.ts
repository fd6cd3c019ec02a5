/** Ends INVITE transactions of an earlier process that have no final response. */
import { ClientForks } from './client-invite.ts';
import type { DialogTable } from './dialog/dialog.ts';
import { nextHopUri } from './dialog/dialog-state.ts';
import type { SipMessage } from './message/message.ts';
import { parseUri } from './message/uri.ts';
import type { TransactionLayer } from './transaction/transaction-layer.ts';
import { defaultPortOf } from './transport/flow.ts';
import { serverNameOf, type Target } from './transport/next-hop.ts';
import type { TransportLayer } from './transport/transport-layer.ts';
import type { EngineContext } from './user-agent-options.ts';

/** Parts of the user agent that ending an orphan takes. */
interface OrphanParts {
  readonly context: EngineContext;
  readonly dialogs: DialogTable;
  readonly transport: Pick<TransportLayer, 'flowTo'>;
  readonly transactions: Pick<TransactionLayer, 'resume' | 'refuse'>;
}

/** Service Unavailable: carriers try another route, or retry. RFC 3261, 21.5.4. */
const RESTARTED = 503;

/**
 * Cancels an outgoing INVITE. A 2xx that crosses the CANCEL gets ACK and BYE. Resolves at the final response, or
 * after 64*T1.
 *
 * @param invite as sent, with our Via; the body may be missing.
 * @param target destination of the INVITE.
 * @throws {SipError} 503 when the target is unreachable.
 */
export async function cancelOrphan(
  parts: OrphanParts,
  invite: SipMessage,
  target: Target,
): Promise<void> {
  const { context, dialogs, transport, transactions } = parts;
  const name = serverNameOf(parseUri(nextHopUri(invite)));
  const flow = await transport.flowTo({ ...target, ...name });
  const forks = new ClientForks({
    context,
    dialogs,
    digest: undefined,
    acknowledge: 'automatic',
  });
  await new Promise<void>((resolve) => {
    const isOurs = transactions.resume(invite, flow, {
      onResponse: (response) => {
        if (response.status >= 200 && response.status < 300) {
          forks.later(response, { request: invite, flow });
        }
        if (response.status >= 200) resolve();
      },
      onTimeout: resolve,
      onTransportError: resolve,
    });
    if (isOurs) context.sender.cancel(invite, flow);
    else resolve();
  });
}

/**
 * Refuses an incoming INVITE with 503 and Retry-After.
 *
 * @param invite as received, with `received` and `rport` in its Via; the body may be missing.
 * @param source origin of the INVITE.
 * @throws {SipError} 503 when the source is unreachable.
 */
export async function refuseOrphan(
  { transport, transactions }: OrphanParts,
  invite: SipMessage,
  source: Target,
): Promise<void> {
  // The connection of the request ended with its process. RFC 3261, 18.2.2.
  const port =
    source.protocol === 'UDP' ? source.port : (invite.via.port ?? defaultPortOf(source.protocol));
  transactions.refuse(invite, await transport.flowTo({ ...source, port }), RESTARTED);
}
