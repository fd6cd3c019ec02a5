/** The newest deliveries, filtered, and sending the failed ones of some days again. */
import { useState } from 'preact/hooks';
import type { Delivery, DeliveryDetail, Endpoint, Paged } from '../api-types.ts';
import { client, complain, formats, say, t } from '../app-state.ts';
import { Dialog } from './dialog.tsx';
import { SelectField, TextField } from './field.tsx';
import { Instant, Pager, Problem, Section, Shown, State, Table } from './page.tsx';
import { useLoad, useSubmit } from './use-load.ts';

const PER_PAGE = 20;

export function Deliveries({ endpoints }: { readonly endpoints: readonly Endpoint[] }) {
  const [status, setStatus] = useState('');
  const [endpointId, setEndpointId] = useState('');
  const [offset, setOffset] = useState(0);
  const loaded = useLoad(
    (signal) => {
      const query = { status, endpointId, offset, limit: PER_PAGE };
      return client.api<Paged<Delivery>>('api/webhooks/deliveries', { query, signal });
    },
    [status, endpointId, offset],
  );
  const actions = (
    <>
      <button type="button" onClick={loaded.reload}>
        {t('deliveries.reload')}
      </button>
      <ResendMany onResent={loaded.reload} />
    </>
  );
  return (
    <Section title={t('deliveries.title')} actions={actions}>
      <search class="filters">
        <SelectField
          label={t('deliveries.status')}
          value={status}
          onValue={setStatus}
          options={[
            ['', t('calls.all')],
            ['failed', t('state.failed')],
            ['pending', t('state.pending')],
            ['succeeded', t('state.succeeded')],
          ]}
        />
        <SelectField
          label={t('deliveries.endpoint')}
          value={endpointId}
          onValue={setEndpointId}
          options={[['', t('calls.all')], ...endpoints.map(({ id, url }) => [id, url] as const)]}
        />
      </search>
      <Shown loaded={loaded}>
        {({ data, total }) => (
          <>
            {data.length === 0 ? (
              <p class="empty">{t('deliveries.none')}</p>
            ) : (
              <DeliveryTable deliveries={data} onChanged={loaded.reload} />
            )}
            {total > PER_PAGE ? (
              <Pager total={total} offset={offset} limit={PER_PAGE} onOffset={setOffset} />
            ) : null}
          </>
        )}
      </Shown>
    </Section>
  );
}

function ResendMany({ onResent }: { readonly onResent: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t('resend.title')}
      </button>
      {isOpen ? <ResendDialog onClose={() => setOpen(false)} onResent={onResent} /> : null}
    </>
  );
}

function ResendDialog(props: { readonly onClose: () => void; readonly onResent: () => void }) {
  const today = new Date().toISOString().slice(0, 10);
  const [from, setFrom] = useState(today);
  const [to, setTo] = useState(today);
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    const body = { from, to, status: 'failed' };
    const { resent } = await client.api<{ readonly resent: number }>('api/webhooks/resend', {
      method: 'POST',
      body,
    });
    say(t('resend.done', { count: formats.value.count(resent) }));
    props.onResent();
    props.onClose();
  });
  return (
    <Dialog title={t('resend.title')} onClose={props.onClose}>
      <form onSubmit={submit}>
        <p>{t('resend.text')}</p>
        <TextField
          label={t('calls.from')}
          type="date"
          value={from}
          onValue={setFrom}
          error={wrong.from}
        />
        <TextField label={t('calls.to')} type="date" value={to} onValue={setTo} error={wrong.to} />
        {error === undefined ? null : <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={props.onClose}>
            {t('app.cancel')}
          </button>
          <button type="submit" class="main" disabled={isBusy}>
            {t('deliveries.resend')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Deliveries of events: how each went, every attempt, and sending it again. */
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
