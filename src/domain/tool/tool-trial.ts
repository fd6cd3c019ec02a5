/** Trials of custom tools: one run without a call. */
import type { CustomTool } from './custom-tool.ts';

/** What came of a trial. */
export interface TrialOutcome {
  readonly isDone: boolean;
  /** What the model of a call would be told. */
  readonly text: string;
  readonly tookMs: number;
}

/** Runs tools for their makers. */
export interface ToolTrial {
  /**
   * Makes the tool's request, as a call would.
   *
   * @returns null while too many trials run.
   */
  run(
    tool: CustomTool,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<TrialOutcome | null>;
}
