/** A form that keeps its input while the reader looks at another page, says so, and asks before a tab is closed. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { t } from '../app-state.ts';
import { WINDOW } from '../kept.ts';
import { type FormState, useForm } from '../parts/form.tsx';
import { Button } from '../parts/page.tsx';
import { broughtBack, keepForm } from './form-changes.ts';

/** Storage of a form: its key, and its values without secrets. */
interface KeptFormPlace<Values> {
  /** API path of the edited resource. */
  readonly path: string;
  readonly withoutSecrets: (values: Values) => Values;
}

export interface KeptFormState<Values> extends FormState<Values> {
  /** Initial values of the form. */
  readonly begun: Values;
  readonly isChanged: boolean;
  /** Whether it began with input that was kept. */
  readonly isBroughtBack: boolean;
  readonly discard: () => void;
  /** Begins again, with other values where they are given. */
  readonly restart: (begun: Values, values?: Values) => void;
}

export function useKeptForm<Values extends object>(options: {
  /** Undefined for a form that is not kept. */
  readonly kept: KeptFormPlace<Values> | undefined;
  /** Returns the server's current values. */
  readonly fresh: () => Values;
  /** @returns the values on the server after that; undefined where nothing was saved. */
  readonly send: (values: Values, begun: Values) => Promise<Values | undefined>;
}): KeptFormState<Values> {
  const { kept, send } = options;
  const [begun, setBegun] = useState(options.fresh);
  const [before] = useState(() => kept && broughtBack(WINDOW, kept.path, begun));
  const [isBroughtBack, setBroughtBack] = useState(before !== undefined);
  const restart = (now: Values, values = now) => {
    setBegun(now);
    setBroughtBack(false);
    form.change(values);
  };
  const form = useForm<Values>(before ?? begun, async (values) => {
    const saved = await send(values, begun);
    if (saved === undefined) return;
    restart(saved);
    // The page may be another one by now.
    if (kept !== undefined) keepForm(WINDOW, kept.path, undefined);
  });
  const isChanged = JSON.stringify(form.values) !== JSON.stringify(begun);
  useLeaveQuestion(isChanged);
  useLayoutEffect(() => {
    if (kept === undefined) return;
    const { path, withoutSecrets } = kept;
    const now = { values: withoutSecrets(form.values), begun: withoutSecrets(begun) };
    keepForm(WINDOW, path, isChanged ? now : undefined);
  }, [form.values, begun]);
  return { ...form, begun, isChanged, isBroughtBack, discard: () => restart(begun), restart };
}

export function BroughtBack(props: {
  readonly form: Pick<KeptFormState<object>, 'isBroughtBack' | 'discard'>;
  readonly text?: string;
}) {
  const { form, text = t('form.broughtBack') } = props;
  if (!form.isBroughtBack) return null;
  return (
    <div class="notice row" role="status">
      <p>{text}</p>
      <Button text={t('agent.discard')} onClick={form.discard} />
    </div>
  );
}

export function useLeaveQuestion(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isChanged]);
}
