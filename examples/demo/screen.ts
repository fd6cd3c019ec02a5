/** What the demo shows on the terminal: both sides of the call, its times, its record. Colours only on a terminal. */
import type { CallDetail, Entry, Times } from './agent-side.ts';
import type { Readiness } from './demo-server.ts';
import type { CallerReport } from './reports.ts';

const COLOURS = { caller: 36, agent: 32, note: 90, failure: 31 } as const;

export class Screen {
  readonly #out: NodeJS.WriteStream;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  note(text: string): void {
    this.#line('note', `        ${text}`);
  }

  failure(text: string): void {
    this.#line('failure', `failed: ${text}`);
  }

  engines({ engines }: Readiness): void {
    for (const { job, engine, reason, isFallback } of engines) {
      this.note(`${job}: ${engine}${isFallback ? ' (fallback)' : ''}: ${reason}`);
    }
  }

  /** The caller's own side: what was really said, and what was heard of the agent. */
  caller(report: CallerReport): void {
    switch (report.kind) {
      case 'answered':
        this.note('answered');
        break;
      case 'said':
        this.#line(
          'caller',
          `caller  ${report.text}${report.isInterruption ? '  (interrupts)' : ''}`,
        );
        break;
      case 'reply':
        this.note(`reply heard ${report.afterMs.toFixed(0)} ms after the caller's last sound`);
        break;
      case 'stopped':
        this.note(`agent fell silent ${report.afterMs.toFixed(0)} ms after the interruption began`);
        break;
      case 'ended':
        this.note(`call ended: ${report.cause}`);
        break;
      default:
        report satisfies never;
    }
  }

  /** The agent's side: what it understood and what of its words was heard. */
  agentSide(entry: Entry, times: Times | undefined): void {
    if (entry.role === 'user') {
      const confidence = entry.confidence === undefined ? '' : `  (${entry.confidence.toFixed(2)})`;
      this.note(`understood: ${entry.text}${confidence}`);
      return;
    }
    this.#line('agent', `agent   ${entry.text}`);
    if (times !== undefined) this.note(`turn: ${timesText(times)}`);
  }

  record(
    call: CallDetail,
    facts: { readonly wordErrorRate: number; readonly recording: string },
  ): void {
    this.#out.write(`\n${JSON.stringify(call, null, 2)}\n\n`);
    this.#out.write(`word error rate  ${(facts.wordErrorRate * 100).toFixed(1)} %\n`);
    this.#out.write(`recording        ${facts.recording}\n`);
  }

  #line(colour: keyof typeof COLOURS, text: string): void {
    const painted = this.#out.isTTY ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
    this.#out.write(`${painted}\n`);
  }
}

function timesText(times: Times): string {
  return Object.entries(times)
    .filter(([name]) => name.endsWith('Ms'))
    .map(([name, ms]) => `${name.slice(0, -2)} ${Number(ms).toFixed(0)}`)
    .join(', ');
}
