/** The newest deliveries, filtered, and sending the failed ones of some days again. */
import { useState } from 'preact/hooks';
import type { Delivery, Endpoint, Paged } from '../api-types.ts';
import { client, complain, formats, say, sentence, t } from '../app-state.ts';
import { DialogButton } from '../parts/dialog.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import { Button, Instant, Section, ShownPage, State, Table } from '../parts/page.tsx';
import { useApi, usePages } from '../parts/use-load.ts';
import { DeliveryDetails } from './delivery-details.tsx';
import { ENDPOINTS } from './endpoint-form.tsx';

/** @param props.endpoint whose deliveries are shown; those of all unless given. */
export function Deliveries({ endpoint }: { readonly endpoint?: Endpoint }) {
  const [status, setStatus] = useState('');
  const [chosen, setChosen] = useState('');
  const endpointId = endpoint?.id ?? chosen;
  const endpoints = useEndpoints();
  const loaded = usePages<Delivery>('api/webhooks/deliveries', 20, { status, endpointId });
  const actions = (
    <>
      <Button text={t('deliveries.reload')} onClick={loaded.reload} />
      <DialogButton label={t('resend.title')} needs="admin">
        {(close) => <ResendForm onClose={close} onResent={loaded.reload} />}
      </DialogButton>
    </>
  );
  return (
    <Section title={t('deliveries.title')} actions={actions}>
      <search class="filters">
        <SelectField
          label={t('field.status')}
          value={status}
          onValue={setStatus}
          options={[
            ['', t('calls.all')],
            ['failed', t('state.failed')],
            ['pending', t('state.pending')],
            ['succeeded', t('state.succeeded')],
          ]}
        />
        {endpoint === undefined && (
          <SelectField
            label={t('deliveries.endpoint')}
            value={chosen}
            onValue={setChosen}
            options={[['', t('calls.all')], ...endpoints.map(({ id, url }) => [id, url] as const)]}
          />
        )}
      </search>
      <ShownPage loaded={loaded}>
        {(data) => (
          <DeliveryTable
            deliveries={data}
            hasEndpoints={endpoint === undefined}
            onChanged={loaded.reload}
            empty={t('deliveries.none')}
          />
        )}
      </ShownPage>
    </Section>
  );
}

function useEndpoints(): readonly Endpoint[] {
  return useApi<Paged<Endpoint>>(ENDPOINTS, { limit: 100 }).value?.data ?? [];
}

function ResendForm(props: { readonly onClose: () => void; readonly onResent: () => void }) {
  const today = new Date().toISOString().slice(0, 10);
  const form = useForm({ from: today, to: today }, async (days) => {
    const ask = { method: 'POST', body: { ...days, status: 'failed' } } as const;
    const { resent } = await client.api<{ readonly resent: number }>('api/webhooks/resend', ask);
    say(t('resend.done', { count: formats.value.count(resent) }));
    props.onResent();
    props.onClose();
  });
  return (
    <Form form={form} label={t('deliveries.resend')} onCancel={props.onClose} isChecked>
      <p>{t('resend.text')}</p>
      <TextField label={t('calls.from')} type="date" {...form.field('from')} />
      <TextField label={t('calls.to')} type="date" {...form.field('to')} />
    </Form>
  );
}

/** Deliveries of events: how each went, every attempt, and sending it again. */
export function DeliveryTable(props: {
  readonly deliveries: readonly Delivery[];
  readonly onChanged: () => void;
  /** Whether to tell which endpoint each is for. */
  readonly hasEndpoints?: boolean;
  readonly empty?: string;
}) {
  const { deliveries, onChanged, hasEndpoints = true, ...rest } = props;
  const endpoints = useEndpoints();
  const urlOf = (endpointId: string) =>
    endpoints.find(({ id }) => id === endpointId)?.url ?? endpointId;
  return (
    <Table
      {...rest}
      label={t('deliveries.title')}
      rows={deliveries}
      keyOf={({ id }) => id}
      columns={{
        event: ({ event }) => event,
        call: ({ callId }) =>
          callId === null ? '–' : <a href={`#/calls/${callId}`}>{t('deliveries.openCall')}</a>,
        endpoint: hasEndpoints && [
          'url small',
          ({ endpointId }) => <a href={`#/webhooks/${endpointId}`}>{urlOf(endpointId)}</a>,
        ],
        created: ({ createdAt }) => <Instant at={createdAt} />,
        status: ({ status }) => <State of={status} />,
        attempts: ['number', ({ attempts }) => formats.value.count(attempts)],
        lastAnswer: ({ lastError, lastStatusCode }) =>
          (lastError && sentence(lastError)) ?? lastStatusCode ?? '–',
        nextAttempt: ({ nextAttemptAt }) => <Instant at={nextAttemptAt} />,
        actions: (delivery) => (
          <div class="actions">
            <DialogButton label={t('field.details')} title={delivery.event}>
              {(close) => <DeliveryDetails id={delivery.id} onClose={close} />}
            </DialogButton>
            <ResendButton delivery={delivery} onChanged={onChanged} />
          </div>
        ),
      }}
    />
  );
}

function ResendButton(props: { readonly delivery: Delivery; readonly onChanged: () => void }) {
  const { id, status } = props.delivery;
  const text = status === 'pending' ? 'deliveries.sendNow' : 'deliveries.resend';
  const resend = () => {
    client.api(`api/webhooks/deliveries/${id}/resend`, { method: 'POST' }).then(() => {
      say(t('deliveries.resent'));
      props.onChanged();
    }, complain);
  };
  return <Button needs="admin" text={t(text)} onClick={resend} />;
}
