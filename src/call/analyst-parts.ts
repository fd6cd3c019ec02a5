/** What an analyst works with: ports and parts that the composition root fills in. */
import type { Environment } from '../domain/account.ts';
import type { AgentStore } from '../domain/agent.ts';
import type { AnalysisStore } from '../domain/analysis.ts';
import type { CallStore } from '../domain/call.ts';
import type { NewId } from '../domain/ids.ts';
import type { EventStore } from '../domain/service-event.ts';
import type { AnalysisResult } from '../lib/analysis-metrics.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { LanguageModel } from '../llm/language-model.ts';

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
