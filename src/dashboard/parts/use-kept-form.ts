/** A form of one thing that keeps what was typed while the reader looks at another page. Secrets are never kept. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { WINDOW } from '../kept.ts';
import { broughtBack, keepForm } from '../kept-form.ts';
import { type FormState, useForm } from './form.tsx';

export interface KeptFormState<Values> extends FormState<Values> {
  readonly isChanged: boolean;
  /** Whether it began with what was typed before. */
  readonly isBroughtBack: boolean;
  readonly discard: () => void;
}

export function useKeptForm<Values extends object>(options: {
  /** Of the thing in the API. */
  readonly path: string;
  /** What the server has now. */
  readonly fresh: () => Values;
  readonly withoutSecrets: (values: Values) => Values;
  /** @returns what the server has then. */
  readonly send: (values: Values, begun: Values) => Promise<Values>;
}): KeptFormState<Values> {
  const { path, withoutSecrets, send } = options;
  const [begun, setBegun] = useState(options.fresh);
  const [before] = useState(() => broughtBack(WINDOW, path, begun));
  const [isBroughtBack, setBroughtBack] = useState(before !== undefined);
  const restart = (now: Values) => {
    setBegun(now);
    setBroughtBack(false);
    form.change(now);
    keepForm(WINDOW, path, undefined);
  };
  const form = useForm<Values>(before ?? begun, async (values) =>
    restart(await send(values, begun)),
  );
  const isChanged = JSON.stringify(form.values) !== JSON.stringify(begun);
  useLayoutEffect(() => {
    const now = { values: withoutSecrets(form.values), begun: withoutSecrets(begun) };
    keepForm(WINDOW, path, isChanged ? now : undefined);
  }, [form.values, begun]);
  return { ...form, isChanged, isBroughtBack, discard: () => restart(begun) };
}
