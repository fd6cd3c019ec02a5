/** The keys of the telephone, and what was pressed. */
import { t } from '../app-state.ts';
import { KEYS } from './keys.ts';

export function Keypad(props: { readonly pressed: string; readonly onKey: (key: string) => void }) {
  return (
    <fieldset class="keypad">
      <legend>{t('phone.keys')}</legend>
      <output class="number keypad-pressed">{props.pressed}</output>
      {KEYS.map((key) => (
        <button key={key} type="button" onClick={() => props.onKey(key)}>
          {key}
        </button>
      ))}
    </fieldset>
  );
}
