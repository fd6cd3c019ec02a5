/** Turns rows of the agents table into agents and back; pure */
import type { Environment } from '../../domain/account/account.ts';
import {
  type Agent,
  type AgentSettings,
  type AgentStatus,
  type AgentSummary,
  type AgentWithUsage,
  DEFAULT_AGENT_SETTINGS,
} from '../../domain/agent/agent.ts';
import type { AgentRow } from '../sqlite/schema.ts';

/** What a customer can change of an agent; versions keep these. */
export const AGENT_CONTENT_COLUMNS = [
  'name',
  'greeting',
  'system_prompt',
  'voice',
  'language',
  'phone_number',
  'tools',
  'settings',
  'status',
] as const satisfies readonly (keyof AgentRow)[];

export const AGENT_COLUMNS = [
  'id',
  'account_id',
  'environment',
  ...AGENT_CONTENT_COLUMNS,
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AgentRow)[];

/** What lists read of a row. */
export const AGENT_SUMMARY_COLUMNS = [
  'id',
  'account_id',
  'environment',
  'name',
  'voice',
  'language',
  'phone_number',
  'status',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AgentRow)[];

type SummaryRow = Pick<AgentRow, (typeof AGENT_SUMMARY_COLUMNS)[number]>;

/** What an agent did since midnight. */
export interface UsageColumns {
  readonly calls_today: number;
  readonly seconds_today: number;
}

export function agentRowOf(agent: Agent): AgentRow {
  return {
    id: agent.id,
    account_id: agent.accountId,
    environment: agent.environment,
    name: agent.name,
    greeting: agent.greeting,
    system_prompt: agent.systemPrompt,
    voice: agent.voice,
    language: agent.language,
    phone_number: agent.phoneNumber,
    tools: JSON.stringify(agent.tools),
    settings: JSON.stringify(agent.settings),
    status: agent.status,
    created_at: agent.createdAt.getTime(),
    updated_at: agent.updatedAt.getTime(),
  };
}

export function agentOf(row: AgentRow): Agent {
  return {
    ...contentOf(row),
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}

export function contentOf(row: Pick<AgentRow, (typeof AGENT_CONTENT_COLUMNS)[number]>) {
  return {
    name: row.name,
    greeting: row.greeting,
    systemPrompt: row.system_prompt,
    voice: row.voice,
    language: row.language,
    phoneNumber: row.phone_number,
    tools: JSON.parse(row.tools) as string[],
    // Rows from before a setting existed have its default.
    settings: { ...DEFAULT_AGENT_SETTINGS, ...(JSON.parse(row.settings) as AgentSettings) },
    status: row.status as AgentStatus,
  };
}

export function withUsage(row: AgentRow & UsageColumns): AgentWithUsage {
  return { ...agentOf(row), ...usageOf(row) };
}

export function summaryOf(row: SummaryRow & UsageColumns): AgentSummary {
  return {
    ...usageOf(row),
    id: row.id,
    accountId: row.account_id,
    environment: row.environment as Environment,
    name: row.name,
    voice: row.voice,
    language: row.language,
    phoneNumber: row.phone_number,
    status: row.status as AgentStatus,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}

function usageOf(row: UsageColumns) {
  return {
    totalCallsToday: row.calls_today,
    totalMinutesToday: minutesOf(row.seconds_today),
  };
}

function minutesOf(seconds: number): number {
  return Math.round(seconds / 6) / 10;
}
