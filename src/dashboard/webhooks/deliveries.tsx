/** Webhook deliveries: the newest ones filtered, one in full with its attempts, and sending the failed ones again. */
import type { Delivery, DeliveryDetail, Endpoint, Paged } from '../api-types.ts';
import { client, complain, formats, refresh, say, sentence, t } from '../app-state.ts';
import { DialogButton } from '../parts/dialog.tsx';
import { ChoiceFilter, TextField, wordOptions } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import {
  Button,
  FactList,
  Instant,
  Section,
  Shown,
  ShownPage,
  State,
  Table,
} from '../parts/page.tsx';
import { useApi, useFilters, usePages } from '../parts/use-load.ts';

export const ENDPOINTS = 'api/webhooks/endpoints';

/** @param props.endpoint only its deliveries are shown; all unless given. */
export function Deliveries({ endpoint }: { readonly endpoint?: Endpoint }) {
  const { field, query } = useFilters({ status: '', endpointId: '' });
  const endpoints = useEndpoints();
  const loaded = usePages<Delivery>('api/webhooks/deliveries', 20, {
    ...query,
    ...(endpoint && { endpointId: endpoint.id }),
  });
  const actions = (
    <>
      <Button text={t('deliveries.reload')} onClick={loaded.reload} />
      <DialogButton label={t('resend.title')} needs="admin">
        {(close) => <ResendForm onClose={close} />}
      </DialogButton>
    </>
  );
  return (
    <Section title={t('deliveries.title')} actions={actions}>
      <search class="filters">
        <ChoiceFilter
          {...field('status', 'field.status')}
          options={wordOptions('state', ['failed', 'pending', 'succeeded'])}
        />
        {endpoint === undefined && (
          <ChoiceFilter
            {...field('endpointId', 'field.endpoint')}
            options={endpoints.map(({ id, url }) => [id, url])}
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

function ResendForm({ onClose }: { readonly onClose: () => void }) {
  const today = new Date().toISOString().slice(0, 10);
  const form = useForm({ from: today, to: today }, async (days) => {
    const ask = { method: 'POST', body: { ...days, status: 'failed' } } as const;
    const { resent } = await client.api<{ readonly resent: number }>('api/webhooks/resend', ask);
    say(t('resend.done', { count: formats.value.count(resent) }));
    refresh();
    onClose();
  });
  return (
    <Form form={form} label={t('deliveries.resend')} onCancel={onClose} isChecked>
      <p>{t('resend.text')}</p>
      <TextField type="date" {...form.field('from', 'calls.from')} />
      <TextField type="date" {...form.field('to', 'calls.to')} />
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
      columns={{
        event: ({ event }) => event,
        call: ({ callId }) =>
          callId === null ? '–' : <a href={`#/calls/${callId}`}>{t('deliveries.openCall')}</a>,
        endpoint: hasEndpoints && [
          'url small',
          ({ endpointId }) => <a href={`#/webhooks/${endpointId}`}>{urlOf(endpointId)}</a>,
        ],
        created: ({ createdAt }) => <Instant at={createdAt} />,
        status: ({ status, nextAttemptAt }) => (
          <>
            <State of={status} />
            {nextAttemptAt !== null && (
              <div class="muted small">
                {t('deliveries.next')} <Instant at={nextAttemptAt} />
              </div>
            )}
          </>
        ),
        attempts: ['number', ({ attempts }) => formats.value.count(attempts)],
        lastAnswer: ({ lastError, lastStatusCode }) =>
          (lastError && sentence(lastError)) ?? lastStatusCode ?? '–',
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

type Attempt = DeliveryDetail['attemptDetails'][number];

function DeliveryDetails(props: { readonly id: string; readonly onClose: () => void }) {
  const loaded = useApi<DeliveryDetail>(`api/webhooks/deliveries/${props.id}`);
  return (
    <>
      <Shown loaded={loaded}>
        {(delivery) => (
          <>
            <FactList
              class="facts"
              facts={[
                [t('field.status'), <State of={delivery.status} />],
                [t('field.event'), delivery.event],
                [t('field.eventId'), <code>{delivery.eventId}</code>],
                [t('field.created'), <Instant at={delivery.createdAt} />],
                [t('field.nextAttempt'), <Instant at={delivery.nextAttemptAt} />],
              ]}
            />
            <h3>{t('deliveries.requestBody')}</h3>
            {delivery.requestBody === null ? (
              <p class="muted">{t('deliveries.noBody')}</p>
            ) : (
              <pre class="report">{JSON.stringify(JSON.parse(delivery.requestBody), null, 2)}</pre>
            )}
            {delivery.attemptDetails.toReversed().map((attempt) => (
              <section key={attempt.timestamp}>
                <h3>{t('deliveries.attempt', { number: attempt.attempt })}</h3>
                {attempt.error !== null && <p>{sentence(attempt.error)}</p>}
                <AttemptDetails attempt={attempt} />
              </section>
            ))}
          </>
        )}
      </Shown>
      <div class="actions">
        <Button text={t('app.close')} onClick={props.onClose} />
      </div>
    </>
  );
}

/** Details of an attempt: time, duration, request and response. */
export function AttemptDetails({ attempt }: { readonly attempt: Attempt }) {
  const { requestHeaders, responseHeaders, responseText, statusCode } = attempt;
  return (
    <>
      <FactList
        class="facts"
        facts={[
          [t('field.at'), <Instant at={attempt.timestamp} />],
          [t('field.took'), formats.value.ms(attempt.durationMs)],
          [t('deliveries.statusCode'), statusCode ?? '–'],
        ]}
      />
      {responseText !== null && (
        <>
          <h4>{t('field.answer')}</h4>
          <pre class="report">{responseText}</pre>
        </>
      )}
      <Headers title={t('deliveries.responseHeaders')} headers={responseHeaders} />
      <Headers title={t('deliveries.requestHeaders')} headers={requestHeaders} />
    </>
  );
}

/** Headers of an attempt; nothing where none were kept. */
function Headers(props: { readonly title: string; readonly headers: Attempt['requestHeaders'] }) {
  const { title, headers } = props;
  if (headers === null || headers.length === 0) return null;
  const lines = headers.map(({ name, value }) => `${name}: ${value}`);
  return (
    <details>
      <summary>{title}</summary>
      <pre class="report">{lines.join('\n')}</pre>
    </details>
  );
}
