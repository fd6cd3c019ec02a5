/** Agents as lists show them, written as JSON by SQLite: to make objects of them first takes longer than reading them; pure */
import { type RawBuilder, sql } from 'kysely';
import { instantText } from './instant.ts';

/** One row of the agents table: two objects as text, and what SQLite writes slower than we do. */
export interface AgentText {
  readonly facts: string;
  readonly usage: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns of an `AgentText`. @param today the agent's calls since midnight, as they stand behind `from`. */
export function agentTextColumns(today: RawBuilder<unknown>) {
  return [
    sql<string>`json_object('id', id, 'name', name, 'status', status, 'voice', voice,
      'language', language, 'phoneNumber', phone_number)`.as('facts'),
    sql<string>`(select json_object('totalCallsToday', count(*),
      'totalMinutesToday', json(${minutes(sql`coalesce(sum(duration_seconds), 0)`)}))
      from ${today})`.as('usage'),
    'created_at',
    'updated_at',
  ] as const;
}

/** Rounded to 0.1, and without a fraction where there is none, as JavaScript writes it. */
function minutes(seconds: RawBuilder<unknown>): RawBuilder<string> {
  return sql`format('%.12g', (${seconds} + 3) / 6 / 10.0)`;
}

/** @see the interface specification, "List agents": names and order are those of its items. */
export function agentItemText({ facts, usage, created_at, updated_at }: AgentText): string {
  const instants = `"createdAt":"${instantText(created_at)}","updatedAt":"${instantText(updated_at)}"`;
  return `${facts.slice(0, -1)},${usage.slice(1, -1)},${instants}}`;
}
