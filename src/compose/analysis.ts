/** Composition root: analysis of ended calls. */
import { Analyst } from '../call/analysis/analyst.ts';
import type { Agent } from '../domain/agent/agent.ts';
import { LINK_LIFETIME_MS, recordingLink } from '../domain/call/recording-link.ts';
import { systemClock } from '../lib/clock.ts';
import { defaultRuleBook } from '../llm/scripted/default-rules.ts';
import { ScriptedModel } from '../llm/scripted/scripted-model.ts';
import type { ControlPlaneParts } from './app-parts.ts';

/**
 * Starts an analyst for each environment: the language model for real calls, the rule book for simulated ones, whose
 * answers are repeatable and take no time of the model.
 *
 * @returns a function that stops both; call it before the store is closed.
 */
export function startAnalysis(from: ControlPlaneParts): () => Promise<void> {
  const { config, store, speech, recordingSecret: secret, metrics, newId, log } = from;
  const publicUrl = config.PUBLIC_URL.replace(/\/$/, '');
  const ruleBook = new ScriptedModel({ book: defaultRuleBook(), clock: systemClock });
  const ofLive = (agent: Agent | undefined) =>
    agent === undefined ? speech.model : speech.agentModels.of(agent);
  const analysts = (['live', 'test'] as const).map(
    (environment) =>
      new Analyst({
        environment,
        modelOf: environment === 'live' ? ofLive : () => ruleBook,
        analyses: store.analyses,
        calls: store.calls,
        events: store.events,
        agents: store.agents,
        recordingLink: (callId, now) => {
          const expiresAt = new Date(now.getTime() + LINK_LIFETIME_MS);
          return recordingLink(callId, { publicUrl, secret, expiresAt });
        },
        // Metrics are about real calls.
        metrics: environment === 'live' ? metrics.analysis : { analysed: () => undefined },
        newId,
        clock: systemClock,
        log,
      }),
  );
  metrics.analysis.watchWaiting(() => store.analyses.count());
  for (const analyst of analysts) analyst.start();
  return async () => {
    await Promise.all(analysts.map((analyst) => analyst.stop()));
  };
}
