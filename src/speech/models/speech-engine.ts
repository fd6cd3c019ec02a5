/** A speech engine as the engine plan sees it: where its models lie, and the module that opens them. */

/** A family of models that does one job. The composition root names the ones there are. */
export interface SpeechEngine {
  /** As in the settings `VAD` and `STT`. */
  readonly name: string;

  /** File URL of the module that opens a model; it is imported where the model runs, in a thread or child. */
  readonly moduleUrl: string;

  /** The command that fetches a model, where `npm run models` does not. */
  readonly fetchCommand?: string;

  /** Tried only when an operator asks for it by name. */
  readonly isOnRequest?: boolean;

  /**
   * Looks for models.
   *
   * @param modelsDir laid out as `<kind>/<name>/`; it need not exist.
   * @returns paths for the module to open, best first.
   */
  find(modelsDir: string): readonly string[];

  /** Models that come with Offhook, in an npm package; used where none is installed. */
  bundled?(): readonly string[];
}

/** Result of trying models one after the other. */
export interface LoadOutcome {
  /** The loaded model; null when none could be loaded. */
  readonly model: string | null;
  /** Messages of models that could not be loaded. */
  readonly failures: readonly string[];
  /** A limitation of the loaded model, and the remedy. */
  readonly drawback?: string;
}
