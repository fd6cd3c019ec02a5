/** Loads the data of a page through the query cache: one request for all parts that need it; late answers are dropped. */
import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { useCallback, useState } from 'preact/hooks';
import type { Query } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import type { AgentItem, CallDetail, Paged, TimelineEntry } from '../api-types.ts';
import { accountId, client, environment, queries, t } from '../app-state.ts';
import type { TextKey } from '../text/text.ts';
import type { Option } from './field.tsx';

/** Interval of new tries while the server does not answer. */
const OUTAGE_MS = 5000;

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

interface LoadOptions<Value> {
  /** Loads again at this interval while the page is in sight. */
  readonly refreshMs?: number;
  /** Whether a value is final, so that it is not loaded again by itself. */
  readonly isLast?: (value: Value) => boolean;
  /** Whether a page that comes back shows the earlier value until the new one is loaded. False for forms, which start from the newest. */
  readonly isKept?: boolean;
}

/** @param key of the data, within the account and environment; the value of the previous key stays until the new one is loaded. */
export function useLoad<Value>(
  key: readonly unknown[],
  load: (signal: AbortSignal) => Promise<Value>,
  { refreshMs, isLast, isKept = true }: LoadOptions<Value> = {},
): Loaded<Value> {
  const { data, error, refetch } = useQuery<Value>(
    {
      queryKey: [accountId.value, environment.value, ...key],
      queryFn: ({ signal }) => load(signal),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state: { data: newest, error: failure } }) => {
        if (failure instanceof ApiError && failure.status === 0) return OUTAGE_MS;
        return newest !== undefined && isLast?.(newest) ? false : (refreshMs ?? false);
      },
      ...(!isKept && { gcTime: 0 }),
    },
    queries,
  );
  const reload = useCallback(() => void refetch(), [refetch]);
  return { value: data, error: error ?? undefined, reload };
}

interface ApiOptions<Value> extends LoadOptions<Value> {
  /** Loads again when it changes. */
  readonly round?: unknown;
  /** Whether it is of the whole installation, which only live keys read. */
  readonly isOfInstallation?: boolean;
}

/** Loads the API's answer at a path. */
export function useApi<Value>(
  path: string,
  query: Query = {},
  { round, isOfInstallation = false, ...options }: ApiOptions<Value> = {},
): Loaded<Value> {
  const load = (signal: AbortSignal) =>
    (isOfInstallation ? client.in('live') : client).api<Value>(path, { query, signal });
  return useLoad([path, query, round], load, options);
}

/** One resource for its form, at its path in the API; null for a new one, which has none yet. */
export function useResource<Value>(path: string | undefined): Loaded<Value | null> {
  return useLoad(
    ['resource', path],
    async (signal) => (path === undefined ? null : await client.api<Value>(path, { signal })),
    { isKept: false },
  );
}

export interface LoadedPage<Item, Answer extends Paged<Item> = Paged<Item>> extends Loaded<Answer> {
  readonly offset: number;
  readonly limit: number;
  readonly onOffset: (offset: number) => void;
}

/** A list of the API, page by page; another query begins at its first page. */
export function usePages<Item, Answer extends Paged<Item> = Paged<Item>>(
  path: string,
  limit: number,
  query: Query = {},
  {
    firstRefreshMs,
    ...options
  }: ApiOptions<Answer> & {
    /** Loads the first page again at this interval. */
    readonly firstRefreshMs?: number | false;
  } = {},
): LoadedPage<Item, Answer> {
  const list = JSON.stringify([path, query]);
  const [place, setPlace] = useState({ list, offset: 0 });
  if (place.list !== list) setPlace({ list, offset: 0 });
  const { offset } = place;
  const loaded = useApi<Answer>(
    path,
    { ...query, limit, offset },
    {
      ...options,
      ...(firstRefreshMs && offset === 0 && { refreshMs: firstRefreshMs }),
    },
  );
  return { ...loaded, offset, limit, onOffset: (next) => setPlace({ list, offset: next }) };
}

/** More entries of a timeline than that are not drawn. */
const TIMELINE_MAX = 1000;

export interface CallRecord {
  readonly call: CallDetail;
  readonly timeline: readonly TimelineEntry[];
}

export function useCallRecord(
  id: string,
  options?: LoadOptions<CallRecord>,
): Loaded<CallRecord> & { readonly path: string } {
  const path = `api/calls/${encodeURIComponent(id)}`;
  const load = async (signal: AbortSignal) => {
    const query = { limit: TIMELINE_MAX };
    const [call, timeline] = await Promise.all([
      client.api<CallDetail>(path, { signal }),
      client.api<Paged<TimelineEntry>>(`${path}/events`, { query, signal }),
    ]);
    return { call, timeline: timeline.data };
  };
  return { ...useLoad(['call', path], load, options), path };
}

/** Filters of a list: the values of their fields, and the resulting query. */
export function useFilters<Name extends string>(begun: Readonly<Record<Name, string>>) {
  const [filters, setFilters] = useState(begun);
  const field = (name: Name, label: TextKey) => ({
    label: t(label),
    value: filters[name],
    onValue: (value: string) => setFilters((before) => ({ ...before, [name]: value })),
  });
  const trimmed = Object.entries<string>(filters).map(([name, value]) => [name, value.trim()]);
  return { field, query: Object.fromEntries(trimmed) as Readonly<Record<Name, string>> };
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
