/** API keys: made (and shown once), looked through, revoked. */
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api-types.ts';
import { client, environment, may, refresh, t } from '../../app-state.ts';
import { ConfirmButton, SecretDialog } from '../../parts/dialog.tsx';
import { ChecksField, TextField } from '../../parts/field.tsx';
import { Form, useForm } from '../../parts/form.tsx';
import { Instant, Page, PagedTable, Section, State } from '../../parts/page.tsx';
import { usePages } from '../../parts/use-load.ts';

const SCOPES = [
  'agents:read',
  'agents:write',
  'calls:read',
  'calls:write',
  'analytics:read',
  'webhooks:read',
  'webhooks:write',
  'admin',
] as const;

export function KeysPage() {
  const loaded = usePages<ApiKey>('api/keys', 100, { environment: environment.value });
  return (
    <Page title={t('keys.title')}>
      {may('admin') && <NewKey />}
      <Section title={t('keys.list')}>
        <PagedTable
          label={t('keys.list')}
          empty={t('keys.none')}
          loaded={loaded}
          columns={{
            name: ({ name }) => name,
            key: ({ prefix, lastFour }) => <code>{`${prefix}…${lastFour}`}</code>,
            scopes: ['small', ({ scopes }) => scopes.join(', ')],
            made: ({ createdAt }) => <Instant at={createdAt} />,
            used: ({ lastUsedAt }) => <Instant at={lastUsedAt} />,
            actions: (key) => <Revocation of={key} />,
          }}
        />
      </Section>
    </Page>
  );
}

function NewKey() {
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const begun = { name: '', scopes: SCOPES.slice(0, -1) as readonly string[] };
  const form = useForm(begun, async (values) => {
    const body = { ...values, environment: environment.value };
    const ask = { method: 'POST', body } as const;
    setSecret((await client.api<{ readonly key: string }>('api/keys', ask)).key);
    form.change({ name: '' });
    refresh();
  });
  return (
    <Section title={t('keys.new')}>
      <Form form={form} label={t('keys.make')} isChecked>
        <TextField {...form.field('name', 'field.name')} isRequired />
        <ChecksField
          {...form.field('scopes', 'field.scopes')}
          options={SCOPES.map((scope) => [scope, scope])}
        />
      </Form>
      {secret !== undefined && (
        <SecretDialog title={t('keys.made')} secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Section>
  );
}

function Revocation({ of: { id, name, revokedAt } }: { readonly of: ApiKey }) {
  if (revokedAt !== null) return <State of="revoked" />;
  return (
    <ConfirmButton
      needs="admin"
      label={t('keys.revoke')}
      question={t('keys.revokeQuestion', { name })}
      done={t('keys.revoked')}
      onConfirm={() => client.api(`api/keys/${id}`, { method: 'DELETE' }).then(refresh)}
    />
  );
}
