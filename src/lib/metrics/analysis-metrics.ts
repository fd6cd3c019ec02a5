/** What is counted and measured of the analyses that follow calls. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { addAskedGauge } from './asked-gauge.ts';

/** Who found the analysis out: a language model, the list of words, or nobody, because nothing was said. */
export type AnalysisResult = 'model' | 'lexicon' | 'empty';

/** The analyses' part of the server's metrics. */
export class AnalysisMetrics {
  readonly #total: Counter<'result'>;
  readonly #seconds: Histogram;
  #readWaiting: () => number = () => 0;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#total = new Counter({
      name: 'offhook_analysis_total',
      help: 'Calls analysed, by who found it out.',
      labelNames: ['result'],
      registers,
    });
    for (const result of ['model', 'lexicon', 'empty']) this.#total.inc({ result }, 0);
    this.#seconds = new Histogram({
      name: 'offhook_analysis_seconds',
      help: "From a call's end to its analysis.",
      buckets: [0.1, 0.5, 1, 2, 5, 8, 15, 30, 60],
      registers,
    });
    addAskedGauge(registry, {
      name: 'offhook_analysis_waiting',
      help: 'Ended calls whose analysis is still to be made.',
      read: () => this.#readWaiting(),
    });
  }

  /** @param sinceEndMs from the call's end; large for calls that a process before this one left. */
  analysed(result: AnalysisResult, sinceEndMs: number): void {
    this.#total.inc({ result });
    this.#seconds.observe(Math.max(0, sinceEndMs) / 1000);
  }

  /** Gives how many calls wait, asked at every scrape; `read` may fail. */
  watchWaiting(read: () => number): void {
    this.#readWaiting = read;
  }
}
