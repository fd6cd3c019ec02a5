/** Fields of forms: a label, what is wrong with it, and the control between them. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { keep, language, t } from '../app-state.ts';
import { LANGUAGES, type Language } from '../text/text.ts';

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
      {note === undefined ? null : (
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
  readonly type?: 'text' | 'password' | 'url' | 'date' | 'number' | 'tel';
  readonly isRequired?: boolean;
  readonly autoComplete?: string;
  readonly minLength?: number;
  readonly rows?: number;
}

/** One line, or several where `rows` says so. */
export function TextField(props: TextFieldProps) {
  const { value, onValue, type = 'text', isRequired = false, rows, minLength } = props;
  return (
    <Field
      {...props}
      control={(control) =>
        rows === undefined ? (
          <input
            {...control}
            // The types of inputs tell each kind apart; this one may be any of a few.
            type={type as 'text'}
            value={value}
            required={isRequired}
            minLength={minLength}
            autocomplete={props.autoComplete ?? 'off'}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        ) : (
          <textarea
            {...control}
            rows={rows}
            value={value}
            required={isRequired}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        )
      }
    />
  );
}

export function SelectField(
  props: FieldProps & {
    readonly value: string;
    readonly onValue: (value: string) => void;
    readonly options: readonly (readonly [value: string, text: string])[];
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
          {props.options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  );
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
export function ChecksField(props: {
  readonly label: string;
  readonly error?: string | undefined;
  readonly values: readonly string[];
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValues: (values: readonly string[]) => void;
}) {
  const { label, error, values, options, onValues } = props;
  return (
    <fieldset class="checks">
      <legend>{label}</legend>
      {options.map(([value, text]) => (
        <CheckField
          key={value}
          label={text}
          isChecked={values.includes(value)}
          onChecked={(isChecked) =>
            onValues(isChecked ? [...values, value] : values.filter((other) => other !== value))
          }
        />
      ))}
      {error === undefined ? null : <p class="wrong">{error}</p>}
    </fieldset>
  );
}

const NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

export function LanguageSelect() {
  return (
    <select
      aria-label={t('app.language')}
      value={language.value}
      onChange={(event) => {
        language.value = event.currentTarget.value as Language;
        keep('language', language.value);
      }}
    >
      {LANGUAGES.map((name) => (
        <option key={name} value={name} lang={name}>
          {NAMES[name]}
        </option>
      ))}
    </select>
  );
}
