/** Whom the callers of an agent may be handed over to, by its own settings and its account's; pure */
import type { ConversationBrief } from '../../conversation/conversation-port.ts';
import type { Account } from '../../domain/account/account.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { TransferRules } from '../../tool/transfer-policy.ts';

/** The agent's own list goes before the account's, where both have a label. */
export function transferRulesOf(
  agent: Agent,
  brief: ConversationBrief,
  account: Account | undefined,
): TransferRules {
  const allowedCountries = account?.allowedCountries ?? undefined;
  return {
    targets: [...agent.settings.transferTargets, ...(account?.transferTargets ?? [])],
    systemPrompt: brief.systemPrompt,
    agentNumber: agent.phoneNumber,
    ownNumbers: agent.phoneNumber === null ? [] : [agent.phoneNumber],
    ...(allowedCountries === undefined ? {} : { allowedCountries }),
  };
}
