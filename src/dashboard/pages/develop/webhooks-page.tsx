/** Webhooks: the endpoints and how each does, the deliveries, and the secret that signs them. */
import { useCallback, useState } from 'preact/hooks';
import type { Endpoint, Paged } from '../../api-types.ts';
import { may, t } from '../../app-state.ts';
import { Empty, Page, Section, Shown, Table } from '../../parts/page.tsx';
import { useApi } from '../../parts/use-load.ts';
import { Deliveries } from '../../webhooks/deliveries.tsx';
import { ENDPOINTS, NewEndpointButton } from '../../webhooks/endpoint-form.tsx';
import { EndpointPage } from '../../webhooks/endpoint-page.tsx';
import {
  EndpointActions,
  EndpointState,
  LastAttempt,
  successRate,
} from '../../webhooks/endpoint-parts.tsx';
import { SigningSecretCard } from '../../webhooks/signing-secret.tsx';

/** @param props.id of the endpoint whose page it is; empty for the list. */
export function WebhooksPage({ id }: { readonly id: string }) {
  return id === '' ? <WebhookList /> : <EndpointPage id={id} />;
}

function WebhookList() {
  const [round, setRound] = useState(0);
  const loaded = useApi<Paged<Endpoint>>(ENDPOINTS, { limit: 100 });
  const { reload } = loaded;
  const changed = useCallback(() => {
    reload();
    setRound((before) => before + 1);
  }, [reload]);
  return (
    <Page title={t('nav.webhooks')} actions={<NewEndpointButton onAdded={changed} />}>
      <Section title={t('webhooks.endpoints')}>
        <Shown loaded={loaded}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty text={t('webhooks.none')}>
                <NewEndpointButton onAdded={changed} />
              </Empty>
            ) : (
              <EndpointTable endpoints={data} onChanged={changed} />
            )
          }
        </Shown>
      </Section>
      <Deliveries key={round} />
      {may('admin') && <SigningSecretCard />}
    </Page>
  );
}

function EndpointTable(props: {
  readonly endpoints: readonly Endpoint[];
  readonly onChanged: () => void;
}) {
  const { endpoints, onChanged } = props;
  return (
    <Table
      label={t('webhooks.endpoints')}
      rows={endpoints}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `#/webhooks/${id}`}
      columns={{
        url: ['url', ({ url }) => url],
        description: ({ description }) => description,
        events: ['small', ({ events }) => events.join(', ')],
        status: (endpoint) => <EndpointState endpoint={endpoint} />,
        successRate: ['number', successRate],
        lastAnswer: (endpoint) => <LastAttempt endpoint={endpoint} />,
        actions:
          may('admin') &&
          ((endpoint) => (
            <EndpointActions endpoint={endpoint} onChanged={onChanged} onDeleted={onChanged} />
          )),
      }}
    />
  );
}
