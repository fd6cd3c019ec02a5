/** How long models take to answer: one histogram and one counter, by job and engine. */
import { Counter, Histogram, type Registry } from 'prom-client';

/** Recognition to its text, the language model to its first word, synthesis to its first sound. */
export type ModelJob = 'stt' | 'llm' | 'tts';

/** Where models report how they did. */
export interface ModelTimes {
  /** @param tookMs until the first thing that can be used. */
  answered(job: ModelJob, engine: string, tookMs: number): void;

  failed(job: ModelJob, engine: string): void;
}

/** Adds the two families; engines are few, as they come from the settings. */
export function modelMetrics(registry: Registry): ModelTimes {
  const labelNames = ['job', 'engine'];
  const seconds = new Histogram({
    name: 'offhook_model_seconds',
    help: 'From the request to what can be used first: text, first word, first sound.',
    labelNames,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12],
    registers: [registry],
  });
  const failures = new Counter({
    name: 'offhook_model_failures_total',
    help: 'Requests that a model did not answer.',
    labelNames,
    registers: [registry],
  });
  return {
    answered: (job, engine, tookMs) => seconds.observe({ job, engine }, tookMs / 1000),
    failed: (job, engine) => failures.inc({ job, engine }),
  };
}
