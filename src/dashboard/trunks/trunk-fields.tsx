/** The fields of a trunk and of its price with their labels and hints, as its form and its wizard show them. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { t } from '../app-state.ts';
import { SelectField, TextField } from '../parts/field.tsx';
import type { FormState } from '../parts/form.tsx';
import type { PriceDraft, TrunkDraft, TrunkFieldName } from './trunk-draft.ts';

/** What a group has side by side. */
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
  readonly form: Pick<FormState<TrunkDraft>, 'field'>;
  readonly names: readonly TrunkFieldName[];
  /** Those that the browser wants filled before it sends the form. */
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
          FIELDS[name]({ ...form.field(name), isRequired: required.includes(name) }, hasPassword),
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

interface FieldState {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly error: string | undefined;
  readonly isRequired: boolean;
}

const FIELDS: Readonly<
  Record<TrunkFieldName, (field: FieldState, hasPassword: boolean) => ComponentChildren>
> = {
  name: (field) => <TextField label={t('field.name')} hint={t('trunk.nameHint')} {...field} />,
  proxy: (field) => <TextField label={t('trunk.proxy')} hint={t('trunk.proxyHint')} {...field} />,
  transport: (field) => (
    <SelectField
      label={t('field.transport')}
      {...field}
      options={['udp', 'tcp', 'tls'].map((name) => [name, name.toUpperCase()])}
    />
  ),
  domain: (field) => (
    <TextField label={t('trunk.domain')} hint={t('trunk.domainHint')} {...field} />
  ),
  register: (field) => (
    <SelectField
      label={t('trunk.register')}
      {...field}
      options={[
        ['true', t('trunk.registers')],
        ['false', t('trunk.knowsAddress')],
      ]}
    />
  ),
  username: (field) => <TextField label={t('access.name')} {...field} />,
  password: (field, hasPassword) => (
    <TextField
      label={t('access.password')}
      type="password"
      autoComplete="new-password"
      hint={t(hasPassword ? 'calendar.passwordKept' : 'trunk.passwordHint')}
      {...field}
    />
  ),
  numbers: (field) => (
    <TextField label={t('field.numbers')} hint={t('trunk.numbersHint')} rows={3} {...field} />
  ),
  callerId: (field) => (
    <TextField label={t('trunk.callerId')} hint={t('trunk.callerIdHint')} type="tel" {...field} />
  ),
  allowedSources: (field) => (
    <TextField label={t('trunk.sources')} hint={t('trunk.sourcesHint')} rows={3} {...field} />
  ),
  codecs: (field) => (
    <TextField label={t('field.codecs')} hint={t('trunk.codecsHint')} rows={2} {...field} />
  ),
  srtp: (field) => (
    <SelectField
      label={t('trunk.srtp')}
      {...field}
      options={(['off', 'preferred', 'required'] as const).map((name) => [
        name,
        t(`trunk.srtp.${name}`),
      ])}
    />
  ),
  transfer: (field) => (
    <SelectField
      label={t('trunk.transfer')}
      {...field}
      options={(['auto', 'refer', 'bridge'] as const).map((name) => [
        name,
        t(`trunk.transfer.${name}`),
      ])}
    />
  ),
  acceptTransfers: (field) => (
    <SelectField
      label={t('trunk.acceptTransfers')}
      {...field}
      options={[
        ['false', t('trunk.acceptTransfers.off')],
        ['true', t('trunk.acceptTransfers.on')],
      ]}
    />
  ),
  maxCalls: (field) => <TextField label={t('trunk.maxCalls')} type="number" {...field} />,
  callsPerSecond: (field) => <TextField label={t('trunk.callsPerSecond')} {...field} />,
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

/** Fields of a direction: what its name, label and hint are. */
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
