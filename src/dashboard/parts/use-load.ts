/** Loads what a page shows, again whenever its dependencies change, and drops answers that come too late. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { messagesByField } from '../api-error.ts';
import type { AgentItem, Paged } from '../api-types.ts';
import { client } from '../app-state.ts';

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** What was shown stays until the next has come, so that nothing jumps. */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  dependencies: readonly unknown[],
): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stopped = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    load(stopped.signal).then(
      (value) => {
        if (!stopped.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (!stopped.signal.aborted) setState((before) => ({ ...before, error, isLoading: false }));
      },
    );
    return () => stopped.abort();
  }, [...dependencies, round]);
  return { ...state, reload: useCallback(() => setRound((before) => before + 1), []) };
}

interface Submit {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Messages by the path of their field. */
  readonly wrong: Readonly<Record<string, string>>;
  readonly submit: (event?: Event) => void;
}

export function useSubmit(send: () => Promise<void>): Submit {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    send()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { isBusy, error, wrong: messagesByField(error), submit };
}

const PAGE = 100;

/** Longest list to choose from. */
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
