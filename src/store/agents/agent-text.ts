/** Agents as the interface shows them, written as JSON by SQLite: to make objects of them first takes longer than reading them; pure */
import { type RawBuilder, sql } from 'kysely';
import { DEFAULT_AGENT_SETTINGS } from '../../domain/agent/agent.ts';
import { instantText } from '../sqlite/instant.ts';

/** One row of the agents table: an object as text, some more of its members, and what SQLite writes slower than we do. */
export interface AgentText {
  readonly facts: string;
  readonly usage: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns of an item of a list. @param today the agent's calls since midnight, as they stand behind `from`. */
export function agentItemColumns(today: RawBuilder<unknown>) {
  const facts = sql`'id', id, 'name', name, 'status', status, 'voice', voice,
    'language', language, 'phoneNumber', phone_number`;
  return columnsOf(facts, today);
}

/** The columns of a single agent. @param today as `agentItemColumns` has it. */
export function agentColumns(today: RawBuilder<unknown>) {
  // Rows from before a setting existed have its default.
  const defaults = sql.lit(JSON.stringify(DEFAULT_AGENT_SETTINGS));
  const facts = sql`'id', id, 'name', name, 'greeting', greeting, 'systemPrompt', system_prompt,
    'voice', voice, 'language', language, 'phoneNumber', phone_number, 'tools', json(tools),
    'settings', json_patch(${defaults}, settings), 'status', status`;
  return columnsOf(facts, today);
}

function columnsOf(facts: RawBuilder<unknown>, today: RawBuilder<unknown>) {
  // Minutes are rounded to 0.1, and without a fraction where there is none, as JavaScript writes them.
  const usage = sql<string>`(
    select '"totalCallsToday":' || calls || ',"totalMinutesToday":' || (tenths / 10)
      || iif(tenths % 10, '.' || (tenths % 10), '')
    from (select count(*) as calls, (coalesce(sum(duration_seconds), 0) + 3) / 6 as tenths from ${today}))`;
  return [
    sql<string>`json_object(${facts})`.as('facts'),
    usage.as('usage'),
    'created_at',
    'updated_at',
  ] as const;
}

/** @see the interface specification, "List agents" and "Get an agent": names and order are theirs. */
export function agentText({ facts, usage, created_at, updated_at }: AgentText): string {
  const instants = `"createdAt":"${instantText(created_at)}","updatedAt":"${instantText(updated_at)}"`;
  return `${facts.slice(0, -1)},${usage},${instants}}`;
}
