/** One delivery in full: the body that is sent, and of each attempt the headers and the answer. */
import type { DeliveryDetail } from '../api-types.ts';
import { formats, sentence, t } from '../app-state.ts';
import { Button, FactList, Instant, Shown, State } from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';

type Attempt = DeliveryDetail['attemptDetails'][number];

export function DeliveryDetails(props: { readonly id: string; readonly onClose: () => void }) {
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
              <pre class="report">{indented(delivery.requestBody)}</pre>
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

/** When it was, how long it took, and what both sides sent. */
export function AttemptDetails({ attempt }: { readonly attempt: Attempt }) {
  const { requestHeaders, responseHeaders, responseText, statusCode } = attempt;
  const ms = `${formats.value.count(Math.round(attempt.durationMs))} ms`;
  return (
    <>
      <FactList
        class="facts"
        facts={[
          [t('field.at'), <Instant at={attempt.timestamp} />],
          [t('field.took'), ms],
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

/** Nothing where none were kept. */
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

/** The body as it is sent is one line. */
function indented(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
