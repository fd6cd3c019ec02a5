/** Fields of forms: a label, the control, and an error message. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { t, word } from '../app-state.ts';
import type { TextKey } from '../text/text.ts';

/** Choice of a field; with the language of its text where it is another one. */
export type Option<Value extends string = string> = readonly [
  value: Value,
  text: string,
  lang?: string,
];

export interface FieldTexts {
  readonly label: string;
  readonly hint?: string;
}

/** Left out of the props, a hint does not replace one that is composed. */
export function fieldTexts(label: TextKey, hint?: TextKey): FieldTexts {
  return { label: t(label), ...(hint !== undefined && { hint: t(hint) }) };
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

interface ControlProps {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
}

function Field(
  props: FieldProps & { readonly control: (control: ControlProps) => ComponentChildren },
) {
  const { label, hint, error } = props;
  const id = useId();
  const note = error ?? hint;
  const control = {
    id,
    'aria-invalid': error !== undefined,
    'aria-describedby': note === undefined ? undefined : `${id}-note`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {props.control(control)}
      {note !== undefined && (
        <p id={`${id}-note`} class={error === undefined ? 'hint' : 'wrong'}>
          {note}
        </p>
      )}
    </div>
  );
}

export interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?:
    | 'text'
    | 'search'
    | 'password'
    | 'url'
    | 'date'
    | 'datetime-local'
    | 'time'
    | 'number'
    | 'tel';
  readonly isRequired?: boolean;
  readonly autoComplete?: string;
  readonly minLength?: number;
  readonly rows?: number;
}

/** A text field of one line, or of `rows` lines. */
export function TextField(props: TextFieldProps) {
  const { type = 'text', isRequired = false, rows, minLength } = props;
  const shared = {
    value: props.value,
    required: isRequired,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      props.onValue(event.currentTarget.value),
  };
  return (
    <Field
      {...props}
      control={(control) =>
        rows === undefined ? (
          <input
            {...control}
            {...shared}
            // The types of inputs tell each kind apart; this one may be any of a few.
            type={type as 'text'}
            minLength={minLength}
            autocomplete={props.autoComplete ?? 'off'}
          />
        ) : (
          <textarea {...control} {...shared} rows={rows} />
        )
      }
    />
  );
}

/** A file of the reader's machine; null when none is chosen. */
export function FileField(
  props: FieldProps & { readonly accept: string; readonly onFile: (file: File | null) => void },
) {
  return (
    <Field
      {...props}
      control={(control) => (
        <input
          {...control}
          type="file"
          accept={props.accept}
          onChange={({ currentTarget }) => props.onFile(currentTarget.files?.[0] ?? null)}
        />
      )}
    />
  );
}

const PASSWORD_CHARS_MIN = 12;

/** A password that is chosen. */
export function NewPasswordField(props: Pick<TextFieldProps, 'value' | 'onValue' | 'error'>) {
  return (
    <TextField
      {...props}
      label={t('access.newPassword')}
      type="password"
      autoComplete="new-password"
      hint={t('access.rule', { least: PASSWORD_CHARS_MIN })}
      minLength={PASSWORD_CHARS_MIN}
      isRequired
    />
  );
}

export function SelectField(
  props: FieldProps & {
    readonly value: string;
    readonly onValue: (value: string) => void;
    readonly options: readonly Option[];
  },
) {
  return (
    <Field
      {...props}
      control={(control) => (
        <select
          {...control}
          value={props.value}
          onChange={(event) => props.onValue(event.currentTarget.value)}
        >
          <Options of={props.options} />
        </select>
      )}
    />
  );
}

/** A filter by one of several values, with an option for all. */
export function ChoiceFilter({ options, ...rest }: Parameters<typeof SelectField>[0]) {
  return <SelectField {...rest} options={[['', t('calls.all')], ...options]} />;
}

/** Values of the server by their words. */
export function wordOptions<Value extends string>(
  group: string,
  values: readonly Value[],
): readonly Option<Value>[] {
  return values.map((value) => [value, word(group, value)]);
}

export function CheckField(props: {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChecked: (isChecked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.isChecked}
        onChange={(event) => props.onChecked(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}

/** Some of a closed set of values. */
export function ChecksField<Value extends string>(props: {
  readonly label: string;
  readonly error?: string | undefined;
  readonly value: readonly Value[];
  readonly options: readonly Option<Value>[];
  readonly onValue: (value: readonly Value[]) => void;
}) {
  const { label, error, value: chosen, options, onValue } = props;
  return (
    <fieldset class="checks">
      <legend>{label}</legend>
      {options.map(([value, text]) => (
        <CheckField
          key={value}
          label={text}
          isChecked={chosen.includes(value)}
          onChecked={(isChecked) =>
            onValue(isChecked ? [...chosen, value] : chosen.filter((other) => other !== value))
          }
        />
      ))}
      {error !== undefined && <p class="wrong">{error}</p>}
    </fieldset>
  );
}

/** A select without a visible label. */
export function BareSelect<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly disabled?: boolean;
  readonly options: readonly Option<Value>[];
  readonly onValue: (value: Value) => void;
}) {
  return (
    <select
      aria-label={props.label}
      value={props.value}
      disabled={props.disabled}
      onChange={(event) => props.onValue(event.currentTarget.value as Value)}
    >
      <Options of={props.options} />
    </select>
  );
}

function Options(props: { readonly of: readonly Option[] }) {
  return (
    <>
      {props.of.map(([value, text, lang]) => (
        <option key={value} value={value} lang={lang}>
          {text}
        </option>
      ))}
    </>
  );
}
