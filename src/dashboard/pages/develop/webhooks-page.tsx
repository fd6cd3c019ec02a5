/** Webhooks: the endpoints and how each does, the deliveries, and the secret that signs them. */
import type { Endpoint, SigningSecret } from '../../api-types.ts';
import { client, complain, formats, may, t } from '../../app-state.ts';
import { ConfirmButton } from '../../parts/dialog.tsx';
import { Button, Empty, Page, PagedTable, Section, Shown } from '../../parts/page.tsx';
import { useApi, usePages } from '../../parts/use-load.ts';
import { Deliveries, ENDPOINTS } from '../../webhooks/deliveries.tsx';
import {
  EndpointPage,
  EndpointState,
  LastAttempt,
  NewEndpointButton,
  successRate,
  TestEventButton,
} from '../../webhooks/endpoint-page.tsx';

/** @param props.id of the endpoint whose page it is; empty for the list. */
export function WebhooksPage({ id }: { readonly id: string }) {
  return id === '' ? <WebhookList /> : <EndpointPage id={id} />;
}

function WebhookList() {
  const loaded = usePages<Endpoint>(ENDPOINTS, 100);
  return (
    <Page title={t('nav.webhooks')} actions={<NewEndpointButton />}>
      <Section title={t('webhooks.endpoints')}>
        <PagedTable
          label={t('webhooks.endpoints')}
          empty={
            <Empty text={t('webhooks.none')}>
              <NewEndpointButton />
            </Empty>
          }
          loaded={loaded}
          hrefOf={({ id }) => `#/webhooks/${id}`}
          columns={{
            url: ['url', ({ url }) => url],
            events: ['small', ({ events }) => events.join(', ')],
            status: (endpoint) => <EndpointState endpoint={endpoint} />,
            successRate: ['number', successRate],
            lastAnswer: (endpoint) => <LastAttempt endpoint={endpoint} />,
            actions: may('admin') && ((endpoint) => <TestEventButton endpoint={endpoint} />),
          }}
        />
      </Section>
      <Deliveries />
      {may('admin') && <SigningSecretCard />}
    </Page>
  );
}

const SECRET = 'api/account/signing-secret';

export function SigningSecretCard() {
  const loaded = useApi<SigningSecret>(SECRET);
  const send = (path: string, method: 'POST' | 'DELETE') =>
    client.api(`${SECRET}${path}`, { method }).then(loaded.reload);
  return (
    <Section title={t('secret.title')}>
      <p>{t('secret.text')}</p>
      <Shown loaded={loaded}>
        {({ preparedSecret: prepared, previousValidUntil: until }) => (
          <>
            {prepared === null ? (
              <Button text={t('secret.prepare')} onClick={() => send('', 'POST').catch(complain)} />
            ) : (
              <>
                <p>{t('secret.prepared')}</p>
                <code class="secret">{prepared}</code>
                <div class="actions">
                  <ConfirmButton
                    label={t('agents.activate')}
                    question={t('secret.activateQuestion')}
                    onConfirm={() => send('/activate', 'POST')}
                    class="main"
                  />
                  <ConfirmButton
                    label={t('secret.dropPrepared')}
                    question={t('secret.dropPreparedQuestion')}
                    onConfirm={() => send('/prepared', 'DELETE')}
                  />
                </div>
              </>
            )}
            {until !== null && (
              <>
                <p>{t('secret.previous', { until: formats.value.instant(until) })}</p>
                <ConfirmButton
                  label={t('secret.dropPrevious')}
                  question={t('secret.dropPreviousQuestion')}
                  onConfirm={() => send('/previous', 'DELETE')}
                />
              </>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}
