/** The page of an endpoint: what it gets, how it does, and its deliveries. */
import { useCallback, useState } from 'preact/hooks';
import type { Endpoint } from '../api-types.ts';
import { formats, say, t } from '../app-state.ts';
import { FactList, Instant, Missing, Page, Shown } from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';
import { Deliveries } from './deliveries.tsx';
import { ENDPOINTS } from './endpoint-form.tsx';
import { EndpointActions, EndpointState, LastAttempt, successRate } from './endpoint-parts.tsx';

export function EndpointPage({ id }: { readonly id: string }) {
  const path = `${ENDPOINTS}/${encodeURIComponent(id)}`;
  const loaded = useApi<Endpoint>(path);
  const [round, setRound] = useState(0);
  const { reload } = loaded;
  const changed = useCallback(() => {
    reload();
    setRound((before) => before + 1);
  }, [reload]);
  const deleted = () => {
    say(t('webhooks.deleted'));
    location.hash = '#/webhooks';
  };
  return (
    <Page
      title={t('deliveries.endpoint')}
      actions={
        <a class="button" href="#/webhooks">
          {t('webhooks.all')}
        </a>
      }
    >
      <Shown loaded={loaded} missing={<Missing what="endpoint" path={path} />}>
        {(endpoint) => (
          <>
            <section class="card" aria-label={t('deliveries.endpoint')}>
              <h2 class="url">{endpoint.url}</h2>
              <FactList class="facts" facts={factsOf(endpoint)} />
              <EndpointActions endpoint={endpoint} onChanged={changed} onDeleted={deleted} />
            </section>
            <Deliveries key={round} endpoint={endpoint} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function factsOf(endpoint: Endpoint) {
  const { createdAt, deliveryCounts, description, events } = endpoint;
  const { count } = formats.value;
  return [
    [t('field.status'), <EndpointState endpoint={endpoint} />],
    ...(description === '' ? [] : [[t('field.description'), description] as const]),
    [t('field.events'), events.join(', ')],
    [t('field.successRate'), successRate(endpoint)],
    [t('state.succeeded'), count(deliveryCounts.succeeded)],
    [t('state.failed'), count(deliveryCounts.failed)],
    [t('state.pending'), count(deliveryCounts.pending)],
    [t('field.lastAnswer'), <LastAttempt endpoint={endpoint} />],
    [t('field.created'), <Instant at={createdAt} />],
  ] as const;
}
