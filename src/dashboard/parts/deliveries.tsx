/** The newest deliveries, filtered, and sending the failed ones of some days again. */
import { useState } from 'preact/hooks';
import type { Delivery, DeliveryDetail, Endpoint } from '../api-types.ts';
import { client, complain, formats, say, sentence, t } from '../app-state.ts';
import { DialogButton } from './dialog.tsx';
import { SelectField, TextField } from './field.tsx';
import { Form, useForm } from './form.tsx';
import { Button, Instant, Section, Shown, ShownPage, State, Table } from './page.tsx';
import { useApi, usePages } from './use-load.ts';

export function Deliveries({ endpoints }: { readonly endpoints: readonly Endpoint[] }) {
  const [status, setStatus] = useState('');
  const [endpointId, setEndpointId] = useState('');
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
        <SelectField
          label={t('deliveries.endpoint')}
          value={endpointId}
          onValue={setEndpointId}
          options={[['', t('calls.all')], ...endpoints.map(({ id, url }) => [id, url] as const)]}
        />
      </search>
      <ShownPage loaded={loaded}>
        {(data) => (
          <DeliveryTable deliveries={data} onChanged={loaded.reload} empty={t('deliveries.none')} />
        )}
      </ShownPage>
    </Section>
  );
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
  readonly empty?: string;
}) {
  const { deliveries, onChanged, ...rest } = props;
  return (
    <Table
      {...rest}
      label={t('deliveries.title')}
      rows={deliveries}
      keyOf={({ id }) => id}
      columns={{
        event: ({ event }) => event,
        created: ({ createdAt }) => <Instant at={createdAt} />,
        status: ({ status }) => <State of={status} />,
        attempts: ['number', ({ attempts }) => formats.value.count(attempts)],
        lastAnswer: ({ lastError, lastStatusCode }) =>
          (lastError && sentence(lastError)) ?? lastStatusCode ?? '–',
        nextAttempt: ({ nextAttemptAt }) => <Instant at={nextAttemptAt} />,
        actions: (delivery) => (
          <div class="actions">
            <DialogButton label={t('field.attempts')}>
              {(close) => <Attempts id={delivery.id} onClose={close} />}
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

function Attempts(props: { readonly id: string; readonly onClose: () => void }) {
  const loaded = useApi<DeliveryDetail>(`api/webhooks/deliveries/${props.id}`);
  return (
    <>
      <Shown loaded={loaded}>
        {({ attemptDetails }) => (
          <Table
            label={t('field.attempts')}
            rows={attemptDetails}
            columns={{
              no: ['number', ({ attempt }) => attempt],
              at: ({ timestamp }) => <Instant at={timestamp} />,
              took: [
                'number',
                ({ durationMs }) => `${formats.value.count(Math.round(durationMs))} ms`,
              ],
              status: ['number', ({ statusCode }) => statusCode ?? '–'],
              error: ({ error }) => (error === null ? '–' : sentence(error)),
              answer: ['answer', ({ responseText }) => responseText ?? '–'],
            }}
          />
        )}
      </Shown>
      <div class="actions">
        <Button text={t('app.close')} onClick={props.onClose} />
      </div>
    </>
  );
}
