/** The fields of a trunk with their labels and hints, as its form and its wizard show them. */
import type { ComponentChildren } from 'preact';
import { t } from '../app-state.ts';
import { SelectField, TextField } from '../parts/field.tsx';
import type { FormState } from '../parts/form.tsx';
import type { TrunkDraft, TrunkFieldName } from './trunk-draft.ts';

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
      label={t('trunk.transport')}
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
  username: (field) => <TextField label={t('trunk.username')} {...field} />,
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
    <TextField label={t('trunk.numbers')} hint={t('trunk.numbersHint')} rows={3} {...field} />
  ),
  callerId: (field) => (
    <TextField label={t('trunk.callerId')} hint={t('trunk.callerIdHint')} type="tel" {...field} />
  ),
  allowedSources: (field) => (
    <TextField label={t('trunk.sources')} hint={t('trunk.sourcesHint')} rows={3} {...field} />
  ),
  codecs: (field) => (
    <TextField label={t('trunk.codecs')} hint={t('trunk.codecsHint')} rows={2} {...field} />
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
