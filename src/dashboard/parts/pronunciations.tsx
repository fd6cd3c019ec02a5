/** How words are to be said, a row each. */
import { useEffect, useRef } from 'preact/hooks';
import type { Pronunciation } from '../agent-draft.ts';
import { t } from '../app-state.ts';
import { TextField } from './field.tsx';

/** As many as the server takes. */
const ROWS_MAX = 100;

const PATH = 'settings.pronunciations';

export function Pronunciations(props: {
  readonly values: readonly Pronunciation[];
  readonly wrong: Readonly<Record<string, string>>;
  readonly onValues: (values: readonly Pronunciation[]) => void;
}) {
  const { values, wrong, onValues } = props;
  const rows = useRef<HTMLFieldSetElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const count = useRef(values.length);
  useEffect(() => {
    // A new row is there to be written in; where one went, the focus must not be lost with it.
    if (values.length > count.current) {
      [...(rows.current?.querySelectorAll<HTMLElement>('.pronunciation') ?? [])]
        .at(-1)
        ?.querySelector('input')
        ?.focus();
    } else if (values.length < count.current && document.activeElement === document.body) {
      add.current?.focus();
    }
    count.current = values.length;
  }, [values.length]);
  const change = (at: number, part: Partial<Pronunciation>) =>
    onValues(values.map((value, index) => (index === at ? { ...value, ...part } : value)));
  return (
    <fieldset class="pronunciations" ref={rows}>
      <legend>{t('agent.pronunciations')}</legend>
      <p class="hint">{t('agent.pronunciationsHint')}</p>
      {wrong[PATH] === undefined ? null : <p class="wrong">{wrong[PATH]}</p>}
      {values.map((value, index) => (
        <div class="pronunciation" key={index}>
          <TextField
            label={t('agent.written')}
            value={value.written}
            error={wrong[`${PATH}.${index}.written`]}
            onValue={(written) => change(index, { written })}
          />
          <TextField
            label={t('agent.spoken')}
            value={value.spoken}
            error={wrong[`${PATH}.${index}.spoken`]}
            onValue={(spoken) => change(index, { spoken })}
          />
          <button
            type="button"
            aria-label={t('agent.removePronunciation', { written: value.written })}
            onClick={() => onValues(values.filter((_, other) => other !== index))}
          >
            ×
          </button>
        </div>
      ))}
      {values.length >= ROWS_MAX ? null : (
        <button
          type="button"
          ref={add}
          onClick={() => onValues([...values, { written: '', spoken: '' }])}
        >
          {t('agent.addPronunciation')}
        </button>
      )}
    </fieldset>
  );
}
