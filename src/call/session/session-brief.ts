/** How the agent is to talk on one call; pure */
import type { ConversationBrief } from '../../conversation/conversation-port.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import type { Call } from '../../domain/call/call.ts';

/** Lays the call's overrides over the agent's configuration. */
export function briefOf(agent: Agent, call: Pick<Call, 'overrides'>): ConversationBrief {
  const { overrides } = call;
  return {
    greeting: overrides.greeting ?? agent.greeting,
    systemPrompt: overrides.systemPrompt ?? agent.systemPrompt,
    voice: overrides.voice ?? agent.voice,
    language: overrides.language ?? agent.language,
    pronunciations: agent.settings.pronunciations,
    isInterruptible: agent.settings.interruptible,
    silenceTimeoutMs: agent.settings.silenceTimeoutSeconds * 1000,
    maxDurationMs: (overrides.maxDurationSeconds ?? agent.settings.maxDurationSeconds) * 1000,
  };
}
