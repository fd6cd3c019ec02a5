/** Loads what a page shows, again whenever its dependencies change, and drops answers that come too late. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Query } from '../api-client.ts';
import type { AgentItem, Paged } from '../api-types.ts';
import { client } from '../app-state.ts';
import type { Option } from './field.tsx';

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: unknown;
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
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stopped = new AbortController();
    const tell = (change: Partial<Loaded<Value>>) => {
      if (!stopped.signal.aborted) setState((before) => ({ ...before, ...change }));
    };
    load(stopped.signal).then(
      (value) => tell({ value, error: undefined }),
      (error: unknown) => tell({ error }),
    );
    return () => stopped.abort();
  }, [...dependencies, round]);
  return { ...state, reload: useCallback(() => setRound((before) => before + 1), []) };
}

/** What the API answers at a path. @param round loads again when it changes. */
export function useApi<Value>(path: string, query: Query = {}, round?: unknown): Loaded<Value> {
  return useLoad(
    (signal) => client.api<Value>(path, { query, signal }),
    [path, JSON.stringify(query), round],
  );
}

export interface LoadedPage<Item> extends Loaded<Paged<Item>> {
  readonly offset: number;
  readonly limit: number;
  readonly onOffset: (offset: number) => void;
}

/** A list of the API, page by page. */
export function usePages<Item>(path: string, limit: number, query: Query = {}): LoadedPage<Item> {
  const [offset, onOffset] = useState(0);
  const loaded = useApi<Paged<Item>>(path, { ...query, limit, offset });
  return { ...loaded, offset, limit, onOffset };
}

/** Longest list to choose from. */
const AGENTS_MAX = 1000;

export interface Agents {
  readonly list: readonly AgentItem[];
  /** To choose from. */
  readonly options: readonly Option[];
  /** Its name; the id where the agent is gone, or not loaded yet. */
  readonly nameOf: (id: string) => string;
  readonly reload: () => void;
}

export function useAgents(): Agents {
  const { value: list = [], reload } = useLoad(
    (signal) => client.all<AgentItem>('api/agents', AGENTS_MAX, { signal }),
    [],
  );
  return {
    list,
    options: list.map(({ id, name }) => [id, name]),
    nameOf: (id) => list.find((agent) => agent.id === id)?.name ?? id,
    reload,
  };
}
