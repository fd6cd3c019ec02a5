/** Saves a trunk, and gives its numbers to the agents that were chosen for them. */
import type { AgentItem, PhoneNumber, Trunk } from '../api-types.ts';
import { client } from '../app-state.ts';
import { bodyOf, changesOf, numbersOf, type TrunkDraft, type WizardDraft } from './trunk-draft.ts';

/**
 * @param trunk undefined where one is made.
 * @param begun the trunk on the server, as a draft.
 * @throws {ApiError}
 */
export async function saveTrunk(
  trunk: Trunk | undefined,
  draft: TrunkDraft,
  begun: TrunkDraft,
): Promise<Trunk> {
  if (trunk === undefined) {
    return await client.api('api/trunks', { method: 'POST', body: bodyOf(draft) });
  }
  const body = changesOf(draft, begun);
  if (Object.keys(body).length === 0) return trunk;
  return await client.api(`api/trunks/${trunk.name}`, { method: 'PATCH', body });
}

/** @param agents with the numbers that they have now. @throws {ApiError} */
export async function giveNumbers(
  { numbers, answerers }: WizardDraft,
  agents: readonly AgentItem[],
): Promise<void> {
  for (const number of numbersOf(numbers)) {
    const agentId = answererOf(agents, number);
    const next = answerers[number] ?? agentId;
    if (next !== agentId) await giveNumber({ number, agentId: agentId || null }, next);
  }
}

/** Id of the agent that has the number; empty where none has. */
export function answererOf(agents: readonly AgentItem[], number: string): string {
  return agents.find(({ phoneNumber }) => phoneNumber === number)?.id ?? '';
}

/**
 * Gives a number to an agent, or to none where `next` is empty. Freed first: two agents cannot have one number.
 *
 * @throws {ApiError}
 */
export async function giveNumber(
  { number, agentId }: Pick<PhoneNumber, 'number' | 'agentId'>,
  next: string,
): Promise<void> {
  const give = (id: string, phoneNumber: string) =>
    client.api(`api/agents/${id}`, { method: 'PATCH', body: { phoneNumber } });
  if (agentId !== null)
    await client.api(`api/agents/${agentId}/phone-number`, { method: 'DELETE' });
  if (next === '') return;
  try {
    await give(next, number);
  } catch (error) {
    // A number without anybody would lose calls.
    if (agentId !== null) await give(agentId, number);
    throw error;
  }
}

/** An agent has one number: the list shows its present one before it gets another. */
export function answererName(
  { name, phoneNumber }: Pick<AgentItem, 'name' | 'phoneNumber'>,
  number: string,
): string {
  return phoneNumber === null || phoneNumber === number ? name : `${name} (${phoneNumber})`;
}
