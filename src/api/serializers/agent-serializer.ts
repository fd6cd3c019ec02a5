/** Agents as customers see them: one view for each answer of the specification; pure */
import type { z } from '@hono/zod-openapi';
import type { Agent, AgentSummary, AgentWithUsage } from '../../domain/agent/agent.ts';
import type {
  agentPageSchema,
  agentSchema,
  createdAgentSchema,
  patchedAgentSchema,
} from '../schemas/agent-schemas.ts';

export function serializeCreatedAgent(agent: Agent): z.infer<typeof createdAgentSchema> {
  const { id, name, status, createdAt } = agent;
  return { id, name, status, createdAt: createdAt.toISOString() };
}

export function serializePatchedAgent(agent: Agent): z.infer<typeof patchedAgentSchema> {
  const { id, name, status, updatedAt } = agent;
  return { id, name, status, updatedAt: updatedAt.toISOString() };
}

/** An item of "List agents". */
export function serializeAgentItem(
  agent: AgentSummary,
): z.infer<typeof agentPageSchema>['data'][number] {
  return {
    id: agent.id,
    name: agent.name,
    status: agent.status,
    voice: agent.voice,
    language: agent.language,
    phoneNumber: agent.phoneNumber,
    totalCallsToday: agent.totalCallsToday,
    totalMinutesToday: agent.totalMinutesToday,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}

/** "Get an agent". */
export function serializeAgent(agent: AgentWithUsage): z.infer<typeof agentSchema> {
  const { settings } = agent;
  return {
    id: agent.id,
    name: agent.name,
    greeting: agent.greeting,
    systemPrompt: agent.systemPrompt,
    voice: agent.voice,
    language: agent.language,
    phoneNumber: agent.phoneNumber,
    tools: [...agent.tools],
    responsiveness: agent.responsiveness,
    settings: {
      maxDurationSeconds: settings.maxDurationSeconds,
      silenceTimeoutSeconds: settings.silenceTimeoutSeconds,
      interruptible: settings.interruptible,
      transferTargets: [...settings.transferTargets],
      pronunciations: [...settings.pronunciations],
    },
    status: agent.status,
    totalCallsToday: agent.totalCallsToday,
    totalMinutesToday: agent.totalMinutesToday,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}
