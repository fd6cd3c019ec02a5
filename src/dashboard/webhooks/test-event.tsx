/** Sends a test event to an endpoint and shows the receiver's answer as it comes. */
import { useEffect, useState } from 'preact/hooks';
import type { DeliveryDetail, Endpoint } from '../api-types.ts';
import { client, sentence, t } from '../app-state.ts';
import { DialogButton } from '../parts/dialog.tsx';
import { Button, Problem } from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';
import { AttemptDetails } from './delivery-details.tsx';
import { ENDPOINTS } from './endpoint-form.tsx';

/** An attempt takes up to ten seconds. */
const LOOK_MS = 500;

export function TestEventButton(props: {
  readonly endpoint: Endpoint;
  readonly onSent: () => void;
}) {
  if (props.endpoint.status !== 'active') return null;
  return (
    <DialogButton label={t('webhooks.test')} needs="admin">
      {(close) => <TestEvent {...props} onClose={close} />}
    </DialogButton>
  );
}

function TestEvent(props: {
  readonly endpoint: Endpoint;
  readonly onSent: () => void;
  readonly onClose: () => void;
}) {
  const { endpoint, onSent, onClose } = props;
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
          <Answer deliveryId={deliveryId} onAnswered={onSent} />
        ))}
      <div class="actions">
        <Button text={t('app.close')} onClick={onClose} />
      </div>
    </>
  );
}

function Answer(props: { readonly deliveryId: string; readonly onAnswered: () => void }) {
  const { deliveryId, onAnswered } = props;
  const [isOver, setOver] = useState(false);
  const path = `api/webhooks/deliveries/${deliveryId}`;
  const refresh = isOver ? {} : { refreshMs: LOOK_MS };
  const { value, error } = useApi<DeliveryDetail>(path, {}, undefined, refresh);
  const attempt = value?.attemptDetails.at(-1);
  const hasAnswer = attempt !== undefined;
  useEffect(() => {
    if (!hasAnswer) return;
    setOver(true);
    onAnswered();
  }, [hasAnswer, onAnswered]);
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
