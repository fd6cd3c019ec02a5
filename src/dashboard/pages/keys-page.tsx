/** API keys: made (and shown once), looked through, revoked. */
import { useState } from 'preact/hooks';
import type { ApiKey, Paged } from '../api-types.ts';
import { client, environment, t } from '../app-state.ts';
import { ConfirmButton, SecretDialog } from '../parts/dialog.tsx';
import { ChecksField, TextField } from '../parts/field.tsx';
import { Instant, Page, Problem, Section, Shown, State, Table } from '../parts/page.tsx';
import { useLoad, useSubmit } from '../parts/use-load.ts';

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
  const loaded = useLoad(
    (signal) =>
      client.api<Paged<ApiKey>>('api/keys', {
        query: { limit: 100, environment: environment.value },
        signal,
      }),
    [],
  );
  return (
    <Page title={t('keys.title')}>
      <NewKey onMade={loaded.reload} />
      <Section title={t('keys.list')}>
        <Shown loaded={loaded}>
          {({ data }) => <KeyTable keys={data} onChanged={loaded.reload} />}
        </Shown>
      </Section>
    </Page>
  );
}

function NewKey({ onMade }: { readonly onMade: () => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>(SCOPES.slice(0, -1));
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    const body = { name, scopes, environment: environment.value };
    const { key } = await client.api<{ readonly key: string }>('api/keys', {
      method: 'POST',
      body,
    });
    setSecret(key);
    setName('');
    onMade();
  });
  return (
    <Section title={t('keys.new')}>
      <form class="form" onSubmit={submit}>
        <TextField
          label={t('keys.name')}
          error={wrong.name}
          value={name}
          onValue={setName}
          isRequired
        />
        <ChecksField
          label={t('keys.scopes')}
          error={wrong.scopes}
          values={scopes}
          options={SCOPES.map((scope) => [scope, scope])}
          onValues={setScopes}
        />
        {error === undefined ? null : <Problem error={error} />}
        <div class="actions">
          <button type="submit" class="main" disabled={isBusy}>
            {t('keys.make')}
          </button>
        </div>
      </form>
      {secret === undefined ? null : (
        <SecretDialog title={t('keys.made')} secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Section>
  );
}

function KeyTable(props: { readonly keys: readonly ApiKey[]; readonly onChanged: () => void }) {
  if (props.keys.length === 0) return <p class="empty">{t('keys.none')}</p>;
  const heads = ['name', 'key', 'scopes', 'created', 'used', 'actions'] as const;
  const revoke = async (id: string) => {
    await client.api(`api/keys/${id}`, { method: 'DELETE' });
    props.onChanged();
  };
  return (
    <Table label={t('keys.list')} heads={heads.map((head) => t(`keys.${head}`))}>
      {props.keys.map((key) => (
        <tr key={key.id}>
          <td>{key.name}</td>
          <td>
            <code>{`${key.prefix}…${key.lastFour}`}</code>
          </td>
          <td class="small">{key.scopes.join(', ')}</td>
          <td>
            <Instant at={key.createdAt} />
          </td>
          <td>
            <Instant at={key.lastUsedAt} />
          </td>
          <td>
            {key.revokedAt === null ? (
              <ConfirmButton
                label={t('keys.revoke')}
                question={t('keys.revokeQuestion', { name: key.name })}
                done={t('keys.revoked')}
                onConfirm={() => revoke(key.id)}
              />
            ) : (
              <State of="revoked" />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
