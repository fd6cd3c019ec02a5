/** One webhook endpoint: its page and form, its state and actions, and the test event with the receiver's answer. */
import { useEffect, useState } from 'preact/hooks';
import type { DeliveryDetail, Endpoint } from '../api-types.ts';
import { client, complain, formats, may, refresh, say, sentence, t } from '../app-state.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { ChecksField, TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import {
  Button,
  FactList,
  Instant,
  LinkButton,
  Missing,
  Page,
  Problem,
  Shown,
  State,
} from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';
import { AttemptDetails, Deliveries, ENDPOINTS } from './deliveries.tsx';

export function EndpointPage({ id }: { readonly id: string }) {
  const path = `${ENDPOINTS}/${encodeURIComponent(id)}`;
  const loaded = useApi<Endpoint>(path);
  return (
    <Page
      title={t('field.endpoint')}
      actions={<LinkButton href="#/webhooks" text={t('webhooks.all')} />}
    >
      <Shown loaded={loaded} missing={<Missing what="endpoint" path={path} />}>
        {(endpoint) => (
          <>
            <section class="card" aria-label={t('field.endpoint')}>
              <h2 class="long">{endpoint.url}</h2>
              <FactList class="facts" facts={factsOf(endpoint)} />
              <EndpointActions endpoint={endpoint} />
            </section>
            <Deliveries endpoint={endpoint} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function factsOf(endpoint: Endpoint) {
  const { createdAt, deliveryCounts, description, events } = endpoint;
  const counts = (['succeeded', 'failed', 'pending'] as const)
    .map((status) => `${formats.value.count(deliveryCounts[status])} ${t(`state.${status}`)}`)
    .join(', ');
  return [
    [t('field.status'), <EndpointState endpoint={endpoint} />],
    ...(description === '' ? [] : [[t('field.description'), description] as const]),
    [t('field.events'), events.join(', ')],
    [t('field.successRate'), successRate(endpoint)],
    [t('deliveries.title'), counts],
    [t('field.lastAnswer'), <LastAttempt endpoint={endpoint} />],
    [t('field.created'), <Instant at={createdAt} />],
  ] as const;
}

export function EndpointState({ endpoint }: { readonly endpoint: Endpoint }) {
  const { status, disabledReason } = endpoint;
  return (
    <>
      <State of={status} /> {disabledReason !== null && sentence(disabledReason)}
    </>
  );
}

/** Share of the deliveries that are over; a dash before the first. */
export function successRate({ deliveryCounts: { succeeded, failed } }: Endpoint): string {
  const over = succeeded + failed;
  return over === 0 ? '–' : formats.value.percent(succeeded / over);
}

/** Result of the newest attempt, and its time. */
export function LastAttempt({ endpoint: { lastAttempt } }: { readonly endpoint: Endpoint }) {
  if (lastAttempt === null) return <>–</>;
  const { error, statusCode, timestamp } = lastAttempt;
  return (
    <>
      {error === null ? statusCode : sentence(error)}{' '}
      <span class="muted small">
        <Instant at={timestamp} />
      </span>
    </>
  );
}

/** Actions on a webhook endpoint; nothing for users who may not change it. */
function EndpointActions({ endpoint }: { readonly endpoint: Endpoint }) {
  if (!may('admin')) return null;
  const path = `${ENDPOINTS}/${endpoint.id}`;
  const isActive = endpoint.status === 'active';
  const toggle = () => {
    const body = { status: isActive ? 'disabled' : 'active' };
    client.api(path, { method: 'PATCH', body }).then(refresh, complain);
  };
  return (
    <div class="actions">
      <TestEventButton endpoint={endpoint} />
      <DialogButton label={t('webhooks.edit')}>
        {(close) => <EndpointForm endpoint={endpoint} onClose={close} />}
      </DialogButton>
      <Button text={t(isActive ? 'webhooks.disable' : 'webhooks.enable')} onClick={toggle} />
      <ConfirmButton
        label={t('knowledge.delete')}
        question={t('webhooks.deleteQuestion', { url: endpoint.url })}
        done={t('webhooks.deleted')}
        onConfirm={async () => {
          await client.api(path, { method: 'DELETE' });
          location.assign('#/webhooks');
        }}
      />
    </div>
  );
}

/** An attempt takes up to ten seconds. */
const LOOK_MS = 500;

export function TestEventButton({ endpoint }: { readonly endpoint: Endpoint }) {
  if (endpoint.status !== 'active') return null;
  return (
    <DialogButton label={t('webhooks.test')} needs="admin">
      {(close) => <TestEvent endpoint={endpoint} onClose={close} />}
    </DialogButton>
  );
}

function TestEvent(props: { readonly endpoint: Endpoint; readonly onClose: () => void }) {
  const { endpoint, onClose } = props;
  const [deliveryId, setDeliveryId] = useState<string>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const sent = client.api<{ readonly deliveryId: string }>(`${ENDPOINTS}/${endpoint.id}/test`, {
      method: 'POST',
    });
    sent.then((answer) => setDeliveryId(answer.deliveryId), setError);
  }, [endpoint.id]);
  return (
    <>
      <p>{endpoint.url}</p>
      <Problem error={error} />
      {error === undefined &&
        (deliveryId === undefined ? (
          <p role="status">{t('webhooks.testSending')}</p>
        ) : (
          <Answer deliveryId={deliveryId} />
        ))}
      <div class="actions">
        <Button text={t('app.close')} onClick={onClose} />
      </div>
    </>
  );
}

/** What the receiver answered; it counts for the endpoint and its deliveries too. */
function Answer({ deliveryId }: { readonly deliveryId: string }) {
  const path = `api/webhooks/deliveries/${deliveryId}`;
  const isLast = ({ attemptDetails }: DeliveryDetail) => attemptDetails.length > 0;
  const { value, error } = useApi<DeliveryDetail>(path, {}, { refreshMs: LOOK_MS, isLast });
  const attempt = value?.attemptDetails.at(-1);
  const hasAnswer = attempt !== undefined;
  useEffect(() => {
    if (hasAnswer) refresh();
  }, [hasAnswer]);
  if (attempt === undefined) {
    return (
      <>
        <Problem error={error} />
        <p role="status">{t('webhooks.testSending')}</p>
      </>
    );
  }
  return (
    <>
      <p role="status" class={attempt.error === null ? 'box good' : 'box bad'}>
        {attempt.error === null ? t('webhooks.testReceived') : sentence(attempt.error)}
      </p>
      <AttemptDetails attempt={attempt} />
    </>
  );
}

const EVENTS = [
  'call.started',
  'call.ended',
  'call.transcribed',
  'appointment.booked',
  'call.bridged',
] as const;

type Draft = Pick<Endpoint, 'url' | 'description' | 'events'>;

const EMPTY: Draft = { url: '', description: '', events: EVENTS };

export function NewEndpointButton() {
  return (
    <DialogButton label={t('webhooks.add')} class="main" needs="admin">
      {(close) => <EndpointForm endpoint={undefined} onClose={close} />}
    </DialogButton>
  );
}

/** @param props.endpoint undefined where one is added. */
function EndpointForm(props: {
  readonly endpoint: Endpoint | undefined;
  readonly onClose: () => void;
}) {
  const { endpoint, onClose } = props;
  const { url, description, events } = endpoint ?? EMPTY;
  const form = useForm<Draft>({ url, description, events }, async (draft) => {
    await (endpoint === undefined
      ? client.api(ENDPOINTS, { method: 'POST', body: newBodyOf(draft) })
      : client.api(`${ENDPOINTS}/${endpoint.id}`, { method: 'PATCH', body: draft }));
    say(t(endpoint === undefined ? 'webhooks.added' : 'webhooks.changed'));
    refresh();
    onClose();
  });
  return (
    <Form
      form={form}
      label={t(endpoint === undefined ? 'webhooks.add' : 'app.save')}
      onCancel={onClose}
    >
      <TextField type="url" {...form.field('url', 'field.url')} />
      <TextField {...form.field('description', 'field.description')} />
      <ChecksField
        {...form.field('events', 'field.events')}
        options={EVENTS.map((event) => [event, event])}
      />
    </Form>
  );
}

function newBodyOf({ description, ...rest }: Draft): object {
  return { ...rest, ...(description !== '' && { description }) };
}
