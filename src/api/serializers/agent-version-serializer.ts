/** Versions of agents as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { AgentVersion } from '../../domain/agent/agent-version.ts';
import type { agentVersionPageSchema } from '../schemas/agent-version-schemas.ts';

type VersionView = z.infer<typeof agentVersionPageSchema>['data'][number];

export function serializeAgentVersion({
  version,
  at,
  by,
  changed,
  agent,
}: AgentVersion): VersionView {
  const { transferTargets, pronunciations, ...settings } = agent.settings;
  return {
    version,
    at: at.toISOString(),
    by,
    changed: [...changed],
    agent: {
      ...agent,
      tools: [...agent.tools],
      settings: {
        ...settings,
        transferTargets: [...transferTargets],
        pronunciations: [...pronunciations],
      },
    },
  };
}
