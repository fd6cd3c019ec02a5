/** Which agent answers a telephone of the operator's own. */
import type { Agent } from '../domain/agent/agent.ts';
import type { IncomingCall } from '../telephony/carrier.ts';

/**
 * The agent with the called number where it is of the telephone's account, else the telephone's own agent.
 *
 * @param called the agent with the called number, of any account.
 */
export async function agentOfPhone(
  phone: NonNullable<IncomingCall['phone']>,
  called: Agent | undefined,
  stores: {
    readonly firstAccountId: () => Promise<string | undefined>;
    readonly findLive: (accountId: string, agentId: string) => Promise<Agent | undefined>;
  },
): Promise<Agent | undefined> {
  const accountId = phone.account ?? (await stores.firstAccountId());
  if (accountId === undefined) return undefined;
  if (called?.accountId === accountId) return called;
  return phone.agent === undefined ? undefined : stores.findLive(accountId, phone.agent);
}
