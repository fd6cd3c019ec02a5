/** The fields of a trunk and of its price with their labels and hints, as its form and its wizard show them. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { t } from '../app-state.ts';
import {
  fieldTexts,
  type Option,
  SelectField,
  TextField,
  type TextFieldProps,
  wordOptions,
} from '../parts/field.tsx';
import type { FormState } from '../parts/form.tsx';
import type { TextKey } from '../text/text.ts';
import type { PriceDraft, TrunkDraft, TrunkFieldName } from './trunk-draft.ts';

/** Fields that are shown side by side, by group. */
const GROUPS: readonly (readonly TrunkFieldName[])[] = [
  ['name'],
  ['proxy', 'transport', 'domain', 'register'],
  ['username', 'password'],
  ['numbers'],
  ['callerId'],
  ['allowedSources'],
  ['codecs'],
  ['srtp', 'transfer', 'acceptTransfers', 'maxCalls', 'callsPerSecond'],
];

/** The named fields of a trunk, in their usual order. */
export function TrunkFields(props: {
  readonly form: Pick<FormState<TrunkDraft>, 'bound'>;
  readonly names: readonly TrunkFieldName[];
  /** Fields that the browser wants filled before it sends the form. */
  readonly required?: readonly TrunkFieldName[];
  /** Whether the server has a password, which an empty field keeps. */
  readonly hasPassword?: boolean;
}) {
  const { form, names, required = [], hasPassword = false } = props;
  const groups = GROUPS.map((group) => group.filter((name) => names.includes(name)));
  return (
    <>
      {groups.map((group) => {
        const shown = group.map((name) =>
          FIELDS[name]({ ...form.bound(name), isRequired: required.includes(name) }, hasPassword),
        );
        return shown.length === 0 ? null : (
          <div class="pair" key={group[0]}>
            {shown}
          </div>
        );
      })}
    </>
  );
}

type Shown = Pick<TextFieldProps, 'value' | 'onValue' | 'error' | 'isRequired'>;

type ShowField = (field: Shown, hasPassword: boolean) => ComponentChildren;

function text(
  label: TextKey,
  hint?: TextKey,
  more?: Pick<TextFieldProps, 'type' | 'rows'>,
): ShowField {
  return (field) => <TextField {...fieldTexts(label, hint)} {...more} {...field} />;
}

function choice(label: TextKey, options: () => readonly Option[]): ShowField {
  return (field) => <SelectField label={t(label)} options={options()} {...field} />;
}

const FIELDS: Readonly<Record<TrunkFieldName, ShowField>> = {
  name: text('field.name', 'trunk.nameHint'),
  proxy: text('trunk.proxy', 'trunk.proxyHint'),
  transport: choice('field.transport', () =>
    ['udp', 'tcp', 'tls'].map((name) => [name, name.toUpperCase()]),
  ),
  domain: text('trunk.domain', 'trunk.domainHint'),
  register: choice('trunk.register', () => [
    ['true', t('trunk.registers')],
    ['false', t('trunk.knowsAddress')],
  ]),
  username: text('access.name'),
  password: (field, hasPassword) => (
    <TextField
      label={t('access.password')}
      type="password"
      autoComplete="new-password"
      hint={t(hasPassword ? 'calendar.passwordKept' : 'trunk.passwordHint')}
      {...field}
    />
  ),
  numbers: text('field.numbers', 'trunk.numbersHint', { rows: 3 }),
  callerId: text('trunk.callerId', 'trunk.callerIdHint', { type: 'tel' }),
  allowedSources: text('trunk.sources', 'trunk.sourcesHint', { rows: 3 }),
  codecs: text('field.codecs', 'trunk.codecsHint', { rows: 2 }),
  srtp: choice('trunk.srtp', () => wordOptions('trunk.srtp', ['off', 'preferred', 'required'])),
  transfer: choice('trunk.transfer', () =>
    wordOptions('trunk.transfer', ['auto', 'refer', 'bridge']),
  ),
  acceptTransfers: choice('trunk.acceptTransfers', () => [
    ['false', t('trunk.acceptTransfers.off')],
    ['true', t('trunk.acceptTransfers.on')],
  ]),
  maxCalls: text('trunk.maxCalls', undefined, { type: 'number' }),
  callsPerSecond: text('trunk.callsPerSecond'),
};

type PriceForm = Pick<FormState<{ readonly price: PriceDraft }>, 'values' | 'wrong' | 'change'>;

export function TrunkPriceFields({ form }: { readonly form: PriceForm }) {
  const isOpen = useRef(isAnyGiven(form.values.price));
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

/** Price fields of a direction: name, label and hint. */
const PRICE_FIELDS = [
  ['perMinute', 'PerMinute', undefined],
  ['currency', 'Currency', 'trunk.currencyHint'],
  ['incrementSeconds', 'Increment', 'trunk.incrementHint'],
  ['connection', 'Connection', undefined],
] as const;

function DirectionFields(props: {
  readonly form: PriceForm;
  readonly direction: keyof PriceDraft;
}) {
  const { form, direction } = props;
  const { price } = form.values;
  const texts = price[direction];
  return (
    <>
      {PRICE_FIELDS.map(([name, label, hint]) => (
        <TextField
          key={name}
          label={t(`trunk.${direction}${label}`)}
          hint={hint && t(hint)}
          type={name === 'currency' ? 'text' : 'number'}
          value={texts[name]}
          onValue={(value) =>
            form.change({ price: { ...price, [direction]: { ...texts, [name]: value } } })
          }
          error={form.wrong[`price.${direction}.${name}`]}
        />
      ))}
    </>
  );
}

function isAnyGiven({ inbound, outbound }: PriceDraft): boolean {
  return [inbound, outbound].some((texts) => Object.values(texts).some((text) => text !== ''));
}
