/** Sends a form once at a time, and keeps what was wrong with it. */
import { useState } from 'preact/hooks';
import { messagesByField } from '../api-error.ts';

export interface Submit {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Messages by the path of their field. */
  readonly wrong: Readonly<Record<string, string>>;
  readonly submit: (event?: Event) => void;
}

export function useSubmit(send: () => Promise<void>): Submit {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    send()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { isBusy, error, wrong: messagesByField(error), submit };
}
