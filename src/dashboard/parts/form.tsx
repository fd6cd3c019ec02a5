/** Forms: what was typed, sending it, and what is wrong with it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageUnder } from '../api-error.ts';
import type { Role } from '../api-types.ts';
import { may, t, wrongFields } from '../app-state.ts';
import { Button, Problem } from './page.tsx';

interface Submit {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Messages by the path of their field. */
  readonly wrong: Readonly<Record<string, string>>;
  readonly submit: (event?: Event) => void;
}

export function useSubmit(send: () => Promise<void>): Submit {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const sent = useRef<HTMLFormElement | null>(null);
  useEffect(() => {
    if (error !== undefined && !isBusy) focusAfterRefusal(sent.current);
  }, [error, isBusy]);
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (isBusy) return;
    const from = event?.currentTarget;
    sent.current = from instanceof Element ? from.closest('form') : null;
    setBusy(true);
    setError(undefined);
    send()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { isBusy, error, wrong: wrongFields(error), submit };
}

/** Leads the keyboard to the first wrong field. A button that was disabled while the request ran has lost the focus. */
function focusAfterRefusal(form: HTMLFormElement | null): void {
  const wrong = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
  const isLost = document.activeElement === null || document.activeElement === document.body;
  const next = wrong ?? (isLost ? form?.querySelector<HTMLElement>('[type="submit"]') : undefined);
  next?.focus();
}

export interface FormState<Values> extends Submit {
  readonly values: Values;
  readonly change: (part: Partial<Values>) => void;
  /** What a field shows of a value, and what is wrong with it. */
  readonly field: <Name extends keyof Values & string>(
    name: Name,
  ) => {
    readonly value: Values[Name];
    readonly onValue: (value: Values[Name]) => void;
    readonly error: string | undefined;
  };
}

export function useForm<Values extends object>(
  begun: Values | (() => Values),
  send: (values: Values) => Promise<void>,
): FormState<Values> {
  const [values, setValues] = useState<Values>(begun);
  const change = (part: Partial<Values>) => setValues((before) => ({ ...before, ...part }));
  const submit = useSubmit(() => send(values));
  return {
    ...submit,
    values,
    change,
    field: (name) => ({
      value: values[name],
      onValue: (value) => change({ [name]: value } as unknown as Partial<Values>),
      error: messageUnder(submit.wrong, name),
    }),
  };
}

/** Its fields, why it was refused, and the buttons. In a window it has one to cancel. */
export function Form(props: {
  readonly form: Pick<Submit, 'isBusy' | 'error' | 'submit'>;
  /** Of the button that sends it. */
  readonly label: string;
  readonly onCancel?: (() => void) | undefined;
  /** To the step before, where the form is one of several. */
  readonly onBack?: (() => void) | undefined;
  /** Whether the browser checks fields before they are sent: by `isRequired` and `minLength`. */
  readonly isChecked?: boolean;
  /** Role that sending needs; a viewer's unless given. Without it the fields can only be read. */
  readonly needs?: Role;
  /** Of that button. */
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  const { form, label, onCancel, onBack, isChecked = false, needs = 'viewer' } = props;
  return (
    <form class={onCancel ? undefined : 'form'} onSubmit={form.submit} noValidate={!isChecked}>
      {props.children}
      <Problem error={form.error} />
      <div class="actions">
        {onCancel && <Button text={t('app.cancel')} onClick={onCancel} />}
        {onBack && <Button text={t('app.back')} onClick={onBack} />}
        {may(needs) && (
          <button type="submit" class={props.class ?? 'main'} disabled={form.isBusy}>
            {label}
          </button>
        )}
      </div>
    </form>
  );
}
