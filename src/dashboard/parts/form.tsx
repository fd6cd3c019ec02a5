/** Forms: their input, sending it, and its errors, and lists of rows of fields. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageUnder } from '../api-error.ts';
import type { Role } from '../api-types.ts';
import { may, t, wrongFields } from '../app-state.ts';
import type { TextKey } from '../text/text.ts';
import { type FieldTexts, fieldTexts, type Option, SelectField, TextField } from './field.tsx';
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
  /** Value, change handler and error of one field. */
  readonly bound: <Name extends keyof Values & string>(name: Name) => Bound<Values[Name]>;
  /** Props of one field: as `bound`, with the texts of its label and hint. */
  readonly field: <Name extends keyof Values & string>(
    name: Name,
    label: TextKey,
    hint?: TextKey,
  ) => Bound<Values[Name]> & FieldTexts;
}

interface Bound<Value> {
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  readonly error: string | undefined;
}

export function useForm<Values extends object>(
  begun: Values | (() => Values),
  send: (values: Values) => Promise<void>,
): FormState<Values> {
  const [values, setValues] = useState<Values>(begun);
  const change = (part: Partial<Values>) => setValues((before) => ({ ...before, ...part }));
  const submit = useSubmit(() => send(values));
  const bound = <Name extends keyof Values & string>(name: Name): Bound<Values[Name]> => ({
    value: values[name],
    onValue: (value) => change({ [name]: value } as unknown as Partial<Values>),
    error: messageUnder(submit.wrong, name),
  });
  const field: FormState<Values>['field'] = (name, label, hint) => ({
    ...bound(name),
    ...fieldTexts(label, hint),
  });
  return { ...submit, values, change, bound, field };
}

/** Its fields, why it was refused, and the buttons. In a window it has one to cancel. */
export function Form(props: {
  readonly form: Pick<Submit, 'isBusy' | 'error' | 'submit'>;
  /** Label of the submit button. */
  readonly label: string;
  readonly onCancel?: (() => void) | undefined;
  /** To the step before, where the form is one of several. */
  readonly onBack?: (() => void) | undefined;
  /** Whether the browser checks fields before they are sent: by `isRequired` and `minLength`. */
  readonly isChecked?: boolean;
  /** Role that sending needs; a viewer's unless given. Without it the fields can only be read. */
  readonly needs?: Role;
  /** Class of the submit button. */
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

interface RowColumn<Row> {
  readonly name: keyof Row & string;
  readonly label: string;
  readonly type?: 'text' | 'tel' | 'time';
  /** Makes it a choice. */
  readonly options?: readonly Option[];
}

/** @param props.path of the rows in messages about them: `settings.pronunciations`. */
export function RowsField<Row extends { readonly [Name in keyof Row]: string }>(props: {
  readonly label: string;
  readonly hint?: string;
  readonly path: string;
  readonly wrong: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  readonly columns: readonly RowColumn<Row>[];
  readonly empty: Row;
  readonly addText: string;
  /** Name of a row, for its button to remove it. */
  readonly nameOf: (row: Row) => string;
  readonly max: number;
  readonly onRows: (rows: readonly Row[]) => void;
}) {
  const { path, wrong, rows, columns, onRows } = props;
  const { group, add } = useFocusOfRows(rows.length);
  const change = (at: number, name: string, value: string) =>
    onRows(rows.map((row, index) => (index === at ? { ...row, [name]: value } : row)));
  return (
    <fieldset class="rows" ref={group}>
      <legend>{props.label}</legend>
      {props.hint !== undefined && <p class="hint">{props.hint}</p>}
      {wrong[path] && <p class="wrong">{wrong[path]}</p>}
      {rows.map((row, index) => (
        <div class="rows-row" key={index}>
          {columns.map((column) => (
            <Cell
              key={column.name}
              column={column}
              value={row[column.name]}
              error={wrong[`${path}.${index}.${column.name}`]}
              onValue={(value) => change(index, column.name, value)}
            />
          ))}
          <Button
            text="×"
            aria-label={t('rows.remove', { name: props.nameOf(row) })}
            onClick={() => onRows(rows.filter((_, other) => other !== index))}
          />
        </div>
      ))}
      {rows.length < props.max && (
        <button type="button" ref={add} onClick={() => onRows([...rows, props.empty])}>
          {props.addText}
        </button>
      )}
    </fieldset>
  );
}

function Cell<Row>(props: {
  readonly column: RowColumn<Row>;
  readonly value: string;
  readonly error: string | undefined;
  readonly onValue: (value: string) => void;
}) {
  const { column, ...rest } = props;
  const { label, type = 'text', options } = column;
  return options === undefined ? (
    <TextField {...rest} label={label} type={type} />
  ) : (
    <SelectField {...rest} label={label} options={options} />
  );
}

/** Focuses a new row before the next key can arrive, and the add button where a removed row had the focus. */
function useFocusOfRows(length: number) {
  const group = useRef<HTMLFieldSetElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const count = useRef(length);
  useLayoutEffect(() => {
    if (length > count.current) {
      [...(group.current?.querySelectorAll<HTMLElement>('.rows-row') ?? [])]
        .at(-1)
        ?.querySelector<HTMLElement>('input, select')
        ?.focus();
    } else if (length < count.current && document.activeElement === document.body) {
      add.current?.focus();
    }
    count.current = length;
  }, [length]);
  return { group, add };
}
