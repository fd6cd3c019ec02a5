/** What the list of endpoints and the page of one both show: how it does, and what can be done with it. */
import type { Endpoint } from '../api-types.ts';
import { client, complain, formats, may, sentence, t } from '../app-state.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { Button, Instant, State } from '../parts/page.tsx';
import { EditEndpoint, ENDPOINTS } from './endpoint-form.tsx';
import { TestEventButton } from './test-event.tsx';

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

/** What the newest attempt met, and when. */
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

/** Nothing for those who may not change endpoints. */
export function EndpointActions(props: {
  readonly endpoint: Endpoint;
  /** After a change, and after a test event has its answer. */
  readonly onChanged: () => void;
  readonly onDeleted: () => void;
}) {
  const { endpoint, onChanged, onDeleted } = props;
  if (!may('admin')) return null;
  const path = `${ENDPOINTS}/${endpoint.id}`;
  const isActive = endpoint.status === 'active';
  const toggle = () => {
    const body = { status: isActive ? 'disabled' : 'active' };
    client.api(path, { method: 'PATCH', body }).then(onChanged, complain);
  };
  return (
    <div class="actions">
      <TestEventButton endpoint={endpoint} onSent={onChanged} />
      <DialogButton label={t('webhooks.edit')}>
        {(close) => <EditEndpoint endpoint={endpoint} onDone={onChanged} onClose={close} />}
      </DialogButton>
      <Button text={t(isActive ? 'webhooks.disable' : 'webhooks.enable')} onClick={toggle} />
      <ConfirmButton
        label={t('webhooks.delete')}
        question={t('webhooks.deleteQuestion', { url: endpoint.url })}
        onConfirm={() => client.api(path, { method: 'DELETE' }).then(onDeleted)}
      />
    </div>
  );
}
