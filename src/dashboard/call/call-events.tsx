/** The events of a call with their payloads, and whether each endpoint has got them. */
import type { Delivery, LedgerEvent, Paged } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Instant, Table } from '../parts/page.tsx';
import { type Loaded, useLoad } from '../parts/use-load.ts';
import { DeliveryTable } from '../webhooks/deliveries.tsx';

export interface EventsOfCall {
  readonly events: readonly LedgerEvent[];
  readonly deliveries: readonly Delivery[];
}

/** @param status of the call: each change brings an event. */
export function useCallEvents(callId: string, status: string): Loaded<EventsOfCall> {
  return useLoad(['events', callId, status], (signal) => load(callId, signal));
}

export function CallEvents(props: EventsOfCall & { readonly onChanged: () => void }) {
  const { events, deliveries, onChanged } = props;
  return (
    <>
      <Table
        label={t('field.events')}
        rows={events}
        keyOf={({ id }) => id}
        columns={{
          event: ({ event }) => event,
          created: ({ createdAt }) => <Instant at={createdAt} />,
          id: ({ id }) => <code>{id}</code>,
          payload: (event) => <Payload of={event} />,
        }}
      />
      {deliveries.length > 0 && (
        <>
          <h3>{t('deliveries.title')}</h3>
          <DeliveryTable deliveries={deliveries} onChanged={onChanged} />
        </>
      )}
    </>
  );
}

/** As endpoints get it. */
function Payload({ of: event }: { readonly of: LedgerEvent }) {
  const text = JSON.stringify(event, null, 2);
  return (
    <details class="payload">
      <summary>JSON</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton label={t('app.copy')} text={text} />
    </details>
  );
}

async function load(callId: string, signal: AbortSignal): Promise<EventsOfCall> {
  const query = { callId, limit: 20 };
  const { data: events } = await client.api<Paged<LedgerEvent>>('api/events', { query, signal });
  const pages = await Promise.all(
    events.map(({ id }) =>
      client.api<Paged<Delivery>>('api/webhooks/deliveries', { query: { eventId: id }, signal }),
    ),
  );
  return { events, deliveries: pages.flatMap(({ data }) => data) };
}
