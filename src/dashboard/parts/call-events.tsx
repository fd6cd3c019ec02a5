/** The events of a call, and whether each endpoint has got them. */
import type { Delivery, LedgerEvent, Paged } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { DeliveryTable } from './delivery-table.tsx';
import { Instant, Section, Shown, Table } from './page.tsx';
import { useLoad } from './use-load.ts';

export function CallEvents({ callId }: { readonly callId: string }) {
  const loaded = useLoad((signal) => load(callId, signal), [callId]);
  return (
    <Section title={t('events.title')}>
      <Shown loaded={loaded}>
        {({ events, deliveries }) =>
          events.length === 0 ? (
            <p class="empty">{t('events.none')}</p>
          ) : (
            <>
              <Table
                label={t('events.title')}
                heads={[t('events.kind'), t('events.at'), t('events.id')]}
              >
                {events.map(({ id, event, createdAt }) => (
                  <tr key={id}>
                    <td>{event}</td>
                    <td>
                      <Instant at={createdAt} />
                    </td>
                    <td>
                      <code>{id}</code>
                    </td>
                  </tr>
                ))}
              </Table>
              {deliveries.length === 0 ? null : (
                <>
                  <h3>{t('deliveries.title')}</h3>
                  <DeliveryTable deliveries={deliveries} onChanged={loaded.reload} />
                </>
              )}
            </>
          )
        }
      </Shown>
    </Section>
  );
}

async function load(callId: string, signal: AbortSignal) {
  const { data: events } = await client.api<{ readonly data: readonly LedgerEvent[] }>(
    'api/events',
    {
      query: { callId, limit: 20 },
      signal,
    },
  );
  const pages = await Promise.all(
    events.map(({ id }) =>
      client.api<Paged<Delivery>>('api/webhooks/deliveries', { query: { eventId: id }, signal }),
    ),
  );
  return { events, deliveries: pages.flatMap(({ data }) => data) };
}
