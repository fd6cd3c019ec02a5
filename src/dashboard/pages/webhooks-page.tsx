/** Webhooks: who is told of what, whether it arrived, and the secret that signs it. */
import { useState } from 'preact/hooks';
import type { Endpoint, Paged } from '../api-types.ts';
import { client, complain, say, t } from '../app-state.ts';
import { Deliveries } from '../parts/deliveries.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { EditEndpoint, NewEndpoint } from '../parts/endpoint-form.tsx';
import { Missing } from '../parts/missing.tsx';
import { Page, Section, Shown, State, Table } from '../parts/page.tsx';
import { SigningSecretCard } from '../parts/signing-secret.tsx';
import { useLoad } from '../parts/use-load.ts';

/** @param props.id of the endpoint that a link leads to; empty for the page itself. */
export function WebhooksPage({ id }: { readonly id: string }) {
  const [round, setRound] = useState(0);
  const loaded = useLoad(
    (signal) =>
      client.api<Paged<Endpoint>>('api/webhooks/endpoints', { query: { limit: 100 }, signal }),
    [],
  );
  const isUnknown = id !== '' && loaded.value?.data.some((one) => one.id === id) === false;
  return (
    <Page title={t('webhooks.title')}>
      {isUnknown ? (
        <Missing what="endpoint" path={`api/webhooks/endpoints/${encodeURIComponent(id)}`} />
      ) : null}
      <Section title={t('webhooks.endpoints')}>
        <Shown loaded={loaded}>
          {({ data }) => (
            <EndpointTable
              endpoints={data}
              onChanged={loaded.reload}
              onTested={() => setRound((before) => before + 1)}
            />
          )}
        </Shown>
      </Section>
      <NewEndpoint onMade={loaded.reload} />
      <Deliveries key={round} endpoints={loaded.value?.data ?? []} />
      <SigningSecretCard />
    </Page>
  );
}

function EndpointTable(props: {
  readonly endpoints: readonly Endpoint[];
  readonly onChanged: () => void;
  readonly onTested: () => void;
}) {
  if (props.endpoints.length === 0) return <p class="empty">{t('webhooks.none')}</p>;
  const heads = ['url', 'description', 'events', 'status', 'actions'] as const;
  return (
    <Table label={t('webhooks.endpoints')} heads={heads.map((head) => t(`webhooks.${head}`))}>
      {props.endpoints.map((endpoint) => (
        <tr key={endpoint.id}>
          <td class="url">{endpoint.url}</td>
          <td>{endpoint.description}</td>
          <td class="small">{endpoint.events.join(', ')}</td>
          <td>
            <State of={endpoint.status} /> {endpoint.disabledReason}
          </td>
          <td>
            <EndpointActions {...props} endpoint={endpoint} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function EndpointActions(props: {
  readonly endpoint: Endpoint;
  readonly onChanged: () => void;
  readonly onTested: () => void;
}) {
  const { id, status } = props.endpoint;
  const [isEditing, setEditing] = useState(false);
  const path = `api/webhooks/endpoints/${id}`;
  const isActive = status === 'active';
  const send = () =>
    client.api(`${path}/test`, { method: 'POST' }).then(() => {
      say(t('webhooks.testSent'));
      props.onTested();
    }, complain);
  const toggle = () => {
    const body = { status: isActive ? 'disabled' : 'active' };
    client.api(path, { method: 'PATCH', body }).then(props.onChanged, complain);
  };
  const remove = () => client.api(path, { method: 'DELETE' }).then(props.onChanged);
  return (
    <div class="actions">
      {isActive ? (
        <button type="button" onClick={send}>
          {t('webhooks.test')}
        </button>
      ) : null}
      <button type="button" onClick={() => setEditing(true)}>
        {t('webhooks.edit')}
      </button>
      {isEditing ? (
        <EditEndpoint
          endpoint={props.endpoint}
          onChanged={props.onChanged}
          onClose={() => setEditing(false)}
        />
      ) : null}
      <button type="button" onClick={toggle}>
        {t(isActive ? 'webhooks.disable' : 'webhooks.enable')}
      </button>
      <ConfirmButton
        label={t('webhooks.delete')}
        question={t('webhooks.deleteQuestion', { url: props.endpoint.url })}
        onConfirm={remove}
      />
    </div>
  );
}
