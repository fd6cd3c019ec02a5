/** Deliveries of events: how each went, every attempt, and sending it again. */
import { useState } from 'preact/hooks';
import type { Delivery, DeliveryDetail } from '../api-types.ts';
import { client, complain, formats, say, t } from '../app-state.ts';
import { Dialog } from './dialog.tsx';
import { Instant, Shown, State, Table } from './page.tsx';
import { useLoad } from './use-load.ts';

export function DeliveryTable(props: {
  readonly deliveries: readonly Delivery[];
  readonly onChanged: () => void;
}) {
  const [open, setOpen] = useState<string | undefined>(undefined);
  const heads = ['event', 'created', 'status', 'attempts', 'answer', 'next', 'actions'] as const;
  return (
    <>
      <Table label={t('deliveries.title')} heads={heads.map((head) => t(`deliveries.${head}`))}>
        {props.deliveries.map((delivery) => (
          <tr key={delivery.id}>
            <td>{delivery.event}</td>
            <td>
              <Instant at={delivery.createdAt} />
            </td>
            <td>
              <State of={delivery.status} />
            </td>
            <td class="number">{formats.value.count(delivery.attempts)}</td>
            <td>{delivery.lastError ?? delivery.lastStatusCode ?? '–'}</td>
            <td>
              <Instant at={delivery.nextAttemptAt} />
            </td>
            <td>
              <div class="actions">
                <button type="button" onClick={() => setOpen(delivery.id)}>
                  {t('deliveries.show')}
                </button>
                <ResendButton delivery={delivery} onChanged={props.onChanged} />
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {open === undefined ? null : <AttemptsDialog id={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function ResendButton(props: { readonly delivery: Delivery; readonly onChanged: () => void }) {
  const { id, status } = props.delivery;
  if (status === 'pending') return null;
  const resend = () => {
    client.api(`api/webhooks/deliveries/${id}/resend`, { method: 'POST' }).then(() => {
      say(t('deliveries.resent'));
      props.onChanged();
    }, complain);
  };
  return (
    <button type="button" onClick={resend}>
      {t('deliveries.resend')}
    </button>
  );
}

function AttemptsDialog(props: { readonly id: string; readonly onClose: () => void }) {
  const loaded = useLoad(
    (signal) => client.api<DeliveryDetail>(`api/webhooks/deliveries/${props.id}`, { signal }),
    [props.id],
  );
  const heads = ['attempt', 'at', 'took', 'code', 'error', 'text'] as const;
  return (
    <Dialog title={t('attempts.title')} onClose={props.onClose}>
      <Shown loaded={loaded}>
        {({ attemptDetails }) => (
          <Table label={t('attempts.title')} heads={heads.map((head) => t(`attempts.${head}`))}>
            {attemptDetails.map((one) => (
              <tr key={one.timestamp}>
                <td class="number">{one.attempt}</td>
                <td>
                  <Instant at={one.timestamp} />
                </td>
                <td class="number">{formats.value.count(Math.round(one.durationMs))} ms</td>
                <td class="number">{one.statusCode ?? '–'}</td>
                <td>{one.error ?? '–'}</td>
                <td class="answer">{one.responseText ?? '–'}</td>
              </tr>
            ))}
          </Table>
        )}
      </Shown>
      <div class="actions">
        <button type="button" onClick={props.onClose}>
          {t('app.close')}
        </button>
      </div>
    </Dialog>
  );
}
