/** Which calls are looked at, as the address of the page says it; pure */

export const CALLS_PER_PAGE = 50;

export const FILTER_FIELDS = ['agentId', 'status', 'direction', 'startDate', 'endDate'] as const;

export type FilterField = (typeof FILTER_FIELDS)[number];

export interface CallFilter {
  readonly fields: Readonly<Partial<Record<FilterField, string>>>;
  readonly offset: number;
}

export function filterOf(query: URLSearchParams): CallFilter {
  const given = FILTER_FIELDS.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  const offset = query.get('offset') ?? '';
  return {
    fields: Object.fromEntries(given),
    offset: /^\d{1,9}$/.test(offset) ? Number(offset) : 0,
  };
}

/** The address of the calls so filtered. */
export function addressOf({ fields, offset }: CallFilter): string {
  const query = new URLSearchParams();
  for (const name of FILTER_FIELDS) {
    const value = fields[name];
    if (value !== undefined && value !== '') query.set(name, value);
  }
  if (offset > 0) query.set('offset', String(offset));
  return query.size === 0 ? '#/calls' : `#/calls?${query}`;
}
