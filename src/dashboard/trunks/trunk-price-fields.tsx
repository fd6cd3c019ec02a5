/** What the carrier of a trunk charges: fields of its form, folded away while there is no price. */
import { useRef } from 'preact/hooks';
import { t } from '../app-state.ts';
import { TextField } from '../parts/field.tsx';
import type { FormState } from '../parts/form.tsx';
import { NO_PRICE, type PriceDraft } from './trunk-price-draft.ts';

type PriceForm = Pick<FormState<PriceDraft>, 'values' | 'wrong' | 'change'>;

export function TrunkPriceFields({ form }: { readonly form: PriceForm }) {
  const isOpen = useRef(isAnyGiven(form.values));
  // It stays open: a field must not disappear under the cursor.
  if (Object.keys(form.wrong).some((path) => path.startsWith('price'))) isOpen.current = true;
  return (
    <details open={isOpen.current}>
      <summary>{t('trunk.price')}</summary>
      <p class="muted small">{t('trunk.priceHint')}</p>
      <div class="pair">
        <DirectionFields form={form} direction="inbound" />
        <DirectionFields form={form} direction="outbound" />
      </div>
    </details>
  );
}

function DirectionFields(props: {
  readonly form: PriceForm;
  readonly direction: 'inbound' | 'outbound';
}) {
  const { form, direction } = props;
  const field = (name: keyof PriceDraft, path: string) => ({
    value: form.values[name],
    onValue: (value: string) => form.change({ [name]: value }),
    error: form.wrong[`price.${direction}.${path}`],
  });
  return (
    <>
      <TextField
        label={t(`trunk.${direction}PerMinute`)}
        type="number"
        {...field(`${direction}PerMinute`, 'perMinute')}
      />
      <TextField
        label={t(`trunk.${direction}Currency`)}
        hint={t('trunk.currencyHint')}
        {...field(`${direction}Currency`, 'currency')}
      />
      <TextField
        label={t(`trunk.${direction}Increment`)}
        hint={t('trunk.incrementHint')}
        type="number"
        {...field(`${direction}Increment`, 'incrementSeconds')}
      />
      <TextField
        label={t(`trunk.${direction}Connection`)}
        type="number"
        {...field(`${direction}Connection`, 'connection')}
      />
    </>
  );
}

function isAnyGiven(values: PriceDraft): boolean {
  return (Object.keys(NO_PRICE) as (keyof PriceDraft)[]).some((name) => values[name] !== '');
}
