/** Loads what a page shows, again whenever its dependencies change, and drops answers that come too late. */
import { useCallback, useEffect, useState } from 'preact/hooks';

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** What was shown stays until the next has come, so that nothing jumps. */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  dependencies: readonly unknown[],
): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stopped = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    load(stopped.signal).then(
      (value) => {
        if (!stopped.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (!stopped.signal.aborted) setState((before) => ({ ...before, error, isLoading: false }));
      },
    );
    return () => stopped.abort();
  }, [...dependencies, round]);
  return { ...state, reload: useCallback(() => setRound((before) => before + 1), []) };
}
