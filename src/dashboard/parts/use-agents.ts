/** The agents of the account and environment, for their names and for choosing one. */
import type { AgentItem, Paged } from '../api-types.ts';
import { client } from '../app-state.ts';
import { useLoad } from './use-load.ts';

const PAGE = 100;

/** More than this nobody chooses from a list. */
const AGENTS_MAX = 1000;

export interface Agents {
  readonly list: readonly AgentItem[];
  /** Its name; the id where the agent is gone, or not loaded yet. */
  readonly nameOf: (id: string) => string;
  readonly reload: () => void;
}

export function useAgents(): Agents {
  const { value: list = [], reload } = useLoad(loadAgents, []);
  return { list, nameOf: (id) => list.find((agent) => agent.id === id)?.name ?? id, reload };
}

async function loadAgents(signal: AbortSignal): Promise<readonly AgentItem[]> {
  const agents: AgentItem[] = [];
  while (agents.length < AGENTS_MAX) {
    const query = { limit: PAGE, offset: agents.length };
    const page = await client.api<Paged<AgentItem>>('api/agents', { query, signal });
    agents.push(...page.data);
    if (page.data.length < PAGE) break;
  }
  return agents;
}
