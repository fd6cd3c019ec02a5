/** Loads what a page shows through the query cache: a request each, however many parts ask, and dropped when it comes too late. */
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { useCallback, useState } from 'preact/hooks';
import type { Query } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import type { AgentItem, Paged } from '../api-types.ts';
import { accountId, client, environment, queries } from '../app-state.ts';
import type { Option } from './field.tsx';

/** Interval of new tries while the server does not answer. */
const OUTAGE_MS = 5000;

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

export interface LoadOptions {
  /** Loads again at this interval while the page is in sight. */
  readonly refreshMs?: number;
  /** Whether a page that comes back shows what it had until the new value is there. Forms start from the newest: false. */
  readonly isKept?: boolean;
}

/** @param key what is loaded, within the account and environment; what another key showed stays until the value has come. */
export function useLoad<Value>(
  key: readonly unknown[],
  load: (signal: AbortSignal) => Promise<Value>,
  { refreshMs, isKept = true }: LoadOptions = {},
): Loaded<Value> {
  const { data, error, refetch } = useQuery<Value>(
    {
      queryKey: [accountId.value, environment.value, ...key],
      queryFn: ({ signal }) => load(signal),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (isOutage(state.error) ? OUTAGE_MS : (refreshMs ?? false)),
      ...(!isKept && { gcTime: 0 }),
    },
    queries,
  );
  const reload = useCallback(() => void refetch(), [refetch]);
  return { value: data, error: error ?? undefined, reload };
}

function isOutage(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}

/** What the API answers at a path. @param round loads again when it changes. */
export function useApi<Value>(
  path: string,
  query: Query = {},
  round?: unknown,
  options?: LoadOptions,
): Loaded<Value> {
  return useLoad(
    [path, query, round],
    (signal) => client.api<Value>(path, { query, signal }),
    options,
  );
}

export interface LoadedPage<Item> extends Loaded<Paged<Item>> {
  readonly offset: number;
  readonly limit: number;
  readonly onOffset: (offset: number) => void;
}

/** A list of the API, page by page. */
export function usePages<Item>(
  path: string,
  limit: number,
  query: Query = {},
  options?: LoadOptions,
): LoadedPage<Item> {
  const [offset, onOffset] = useState(0);
  const loaded = useApi<Paged<Item>>(path, { ...query, limit, offset }, undefined, options);
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
  /** Whether the names are known, or cannot be. */
  readonly isSettled: boolean;
  readonly reload: () => void;
}

export function useAgents(): Agents {
  const { value, error, reload } = useLoad(['agents'], (signal) =>
    client.all<AgentItem>('api/agents', AGENTS_MAX, { signal }),
  );
  const list = value ?? [];
  return {
    list,
    options: list.map(({ id, name }) => [id, name]),
    nameOf: (id) => list.find((agent) => agent.id === id)?.name ?? id,
    isSettled: value !== undefined || error !== undefined,
    reload,
  };
}
