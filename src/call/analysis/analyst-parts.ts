/** What an analyst works with: ports and parts that the composition root fills in. */
import type { Environment } from '../../domain/account/account.ts';
import type { AgentStore } from '../../domain/agent/agent.ts';
import type { AnalysisStore } from '../../domain/call/analysis.ts';
import type { CallStore } from '../../domain/call/call.ts';
import type { NewId } from '../../domain/ids.ts';
import type { EventStore } from '../../domain/webhook/service-event.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AnalysisResult } from '../../lib/metrics/analysis-metrics.ts';
import type { LanguageModel } from '../../llm/language-model.ts';

export interface AnalystParts {
  readonly environment: Environment;
  readonly model: LanguageModel;
  readonly analyses: AnalysisStore;
  readonly calls: Pick<CallStore, 'findById' | 'transcript' | 'addTimelineEntry'>;
  readonly events: Pick<EventStore, 'listByCall'>;
  readonly agents: Pick<AgentStore, 'find'>;
  /** Makes the link that goes into the event. */
  readonly recordingLink: (callId: string, now: Date) => string;
  readonly metrics: { analysed(result: AnalysisResult, sinceEndMs: number): void };
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Logger;
}
