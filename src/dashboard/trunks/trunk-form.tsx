/** The editor of a SIP trunk: carrier, credentials, numbers, and what the carrier may send. */
import { useState } from 'preact/hooks';
import type { Trunk } from '../api-types.ts';
import { client, say, t } from '../app-state.ts';
import { BroughtBack } from '../parts/brought-back.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState } from '../parts/form.tsx';
import { useKeptForm } from '../parts/use-kept-form.ts';
import { NEW_ID } from '../router.ts';
import { bodyOf, changesOf, draftOf, NEW_TRUNK, type TrunkDraft } from './trunk-draft.ts';
import { draftOfPreset, PRESETS } from './trunk-presets.ts';
import { TrunkPriceFields } from './trunk-price-fields.tsx';

/** The manual's page that says what to set on the carrier's side. */
const CARRIERS_ADDRESS = 'manual/carriers.html';

interface Fields {
  readonly form: FormState<TrunkDraft>;
}

/** @param props.trunk undefined where one is made. */
export function TrunkForm(props: {
  readonly trunk: Trunk | undefined;
  readonly onSaved: (trunk: Trunk) => void;
}) {
  const { trunk, onSaved } = props;
  const isNew = trunk === undefined;
  const form = useKeptForm<TrunkDraft>({
    kept: {
      path: `api/trunks/${trunk?.name ?? NEW_ID}`,
      withoutSecrets: (draft) => ({ ...draft, password: '' }),
    },
    fresh: () => (isNew ? NEW_TRUNK : draftOf(trunk)),
    send: async (draft, begun) => {
      const saved = await save(trunk, draft, begun);
      say(t('trunk.saved'));
      onSaved(saved);
      return isNew ? NEW_TRUNK : draftOf(saved);
    },
  });
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t(isNew ? 'trunk.create' : 'app.save')} needs="admin">
        {isNew && <Beginning form={form} />}
        <Carrier form={form} />
        <Credentials form={form} hasPassword={trunk?.hasPassword ?? false} />
        <Numbers form={form} />
        <Traffic form={form} />
        <TrunkPriceFields form={form} />
      </Form>
    </div>
  );
}

/** @throws {ApiError} */
async function save(
  trunk: Trunk | undefined,
  draft: TrunkDraft,
  begun: TrunkDraft,
): Promise<Trunk> {
  if (trunk === undefined) {
    return await client.api('api/trunks', { method: 'POST', body: bodyOf(draft) });
  }
  const body = changesOf(draft, begun);
  if (Object.keys(body).length === 0) return trunk;
  return await client.api(`api/trunks/${trunk.name}`, { method: 'PATCH', body });
}

/** The carrier to begin with, which fills in what all its customers share. */
function Beginning({ form }: Fields) {
  const [preset, setPreset] = useState('');
  const choose = (chosen: string) => {
    setPreset(chosen);
    form.change(draftOfPreset(chosen));
  };
  return (
    <>
      <SelectField
        label={t('trunk.preset')}
        hint={t('trunk.presetHint')}
        value={preset}
        onValue={choose}
        options={[
          ['', t('trunk.other')],
          ...Object.entries(PRESETS).map(([name, { title }]) => [name, title] as const),
        ]}
      />
      <p class="small">
        <a href={CARRIERS_ADDRESS}>{t('trunk.carrierSide')}</a>
      </p>
      <TextField label={t('field.name')} hint={t('trunk.nameHint')} {...form.field('name')} />
    </>
  );
}

function Carrier({ form }: Fields) {
  return (
    <div class="pair">
      <TextField label={t('trunk.proxy')} hint={t('trunk.proxyHint')} {...form.field('proxy')} />
      <SelectField
        label={t('trunk.transport')}
        {...form.field('transport')}
        options={['udp', 'tcp', 'tls'].map((name) => [name, name.toUpperCase()])}
      />
      <TextField label={t('trunk.domain')} hint={t('trunk.domainHint')} {...form.field('domain')} />
      <SelectField
        label={t('trunk.register')}
        {...form.field('register')}
        options={[
          ['true', t('trunk.registers')],
          ['false', t('trunk.knowsAddress')],
        ]}
      />
    </div>
  );
}

function Credentials({ form, hasPassword }: Fields & { readonly hasPassword: boolean }) {
  return (
    <div class="pair">
      <TextField label={t('trunk.username')} {...form.field('username')} />
      <TextField
        label={t('access.password')}
        type="password"
        autoComplete="new-password"
        hint={t(hasPassword ? 'calendar.passwordKept' : 'trunk.passwordHint')}
        {...form.field('password')}
      />
    </div>
  );
}

function Numbers({ form }: Fields) {
  return (
    <>
      <TextField
        label={t('trunk.numbers')}
        hint={t('trunk.numbersHint')}
        rows={3}
        {...form.field('numbers')}
      />
      <TextField
        label={t('trunk.callerId')}
        hint={t('trunk.callerIdHint')}
        type="tel"
        {...form.field('callerId')}
      />
      <TextField
        label={t('trunk.sources')}
        hint={t('trunk.sourcesHint')}
        rows={3}
        {...form.field('allowedSources')}
      />
    </>
  );
}

function Traffic({ form }: Fields) {
  return (
    <>
      <TextField
        label={t('trunk.codecs')}
        hint={t('trunk.codecsHint')}
        rows={2}
        {...form.field('codecs')}
      />
      <div class="pair">
        <SelectField
          label={t('trunk.srtp')}
          {...form.field('srtp')}
          options={(['off', 'preferred', 'required'] as const).map((name) => [
            name,
            t(`trunk.srtp.${name}`),
          ])}
        />
        <SelectField
          label={t('trunk.transfer')}
          {...form.field('transfer')}
          options={(['auto', 'refer', 'bridge'] as const).map((name) => [
            name,
            t(`trunk.transfer.${name}`),
          ])}
        />
        <SelectField
          label={t('trunk.acceptTransfers')}
          {...form.field('acceptTransfers')}
          options={[
            ['false', t('trunk.acceptTransfers.off')],
            ['true', t('trunk.acceptTransfers.on')],
          ]}
        />
        <TextField label={t('trunk.maxCalls')} type="number" {...form.field('maxCalls')} />
        <TextField label={t('trunk.callsPerSecond')} {...form.field('callsPerSecond')} />
      </div>
    </>
  );
}
