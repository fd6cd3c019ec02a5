/** What came of loading a model in a process of its own. */

/** What came of trying models one after the other. */
export interface LoadOutcome {
  /** The one in use; null when none could be loaded. */
  readonly model: string | null;
  /** Messages of those that could not. */
  readonly failures: readonly string[];
  /** What the one in use does worse than it could, and the remedy. */
  readonly drawback?: string;
}
