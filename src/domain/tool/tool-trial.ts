/** Trials of custom tools: one run without a call. */
import type { CustomTool } from './custom-tool.ts';

/** What came of a trial. */
export interface TrialOutcome {
  readonly isDone: boolean;
  /** What the model of a call would be told. */
  readonly text: string;
  /** Why it was not done, for who made the tool; null where it was, or where the arguments are wrong. */
  readonly problem: string | null;
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
