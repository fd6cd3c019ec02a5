/** Webhooks: who is told of what, whether it arrived, and the secret that signs it. */
import { useState } from 'preact/hooks';
import type { Endpoint, Paged, SigningSecret } from '../../api-types.ts';
import { client, complain, formats, may, say, t } from '../../app-state.ts';
import { Deliveries } from '../../parts/deliveries.tsx';
import { ConfirmButton, DialogButton } from '../../parts/dialog.tsx';
import { ChecksField, TextField } from '../../parts/field.tsx';
import { Form, type FormState, useForm } from '../../parts/form.tsx';
import { Button, Missing, Page, Section, Shown, State, Table } from '../../parts/page.tsx';
import { useApi } from '../../parts/use-load.ts';

const ENDPOINTS = 'api/webhooks/endpoints';

/** @param props.id of the endpoint that a link leads to; empty for the page itself. */
export function WebhooksPage({ id }: { readonly id: string }) {
  const [round, setRound] = useState(0);
  const loaded = useApi<Paged<Endpoint>>(ENDPOINTS, { limit: 100 });
  const isUnknown = id !== '' && loaded.value?.data.some((one) => one.id === id) === false;
  return (
    <Page title={t('nav.webhooks')}>
      {isUnknown && <Missing what="endpoint" path={`${ENDPOINTS}/${encodeURIComponent(id)}`} />}
      <Section title={t('webhooks.endpoints')}>
        <Shown loaded={loaded}>
          {({ data }) => (
            <EndpointTable
              endpoints={data}
              onChanged={loaded.reload}
              onTested={() => setRound((before) => before + 1)}
            />
          )}
        </Shown>
      </Section>
      {may('admin') && (
        <Section title={t('webhooks.new')}>
          <NewEndpoint onMade={loaded.reload} />
        </Section>
      )}
      <Deliveries key={round} endpoints={loaded.value?.data ?? []} />
      {may('admin') && <SigningSecretCard />}
    </Page>
  );
}

interface ChangeProps {
  readonly onChanged: () => void;
  readonly onTested: () => void;
}

function EndpointTable(props: ChangeProps & { readonly endpoints: readonly Endpoint[] }) {
  return (
    <Table
      label={t('webhooks.endpoints')}
      empty={t('webhooks.none')}
      rows={props.endpoints}
      keyOf={({ id }) => id}
      columns={{
        url: ['url', ({ url }) => url],
        description: ({ description }) => description,
        events: ['small', ({ events }) => events.join(', ')],
        status: ({ status, disabledReason }) => (
          <>
            <State of={status} /> {disabledReason}
          </>
        ),
        actions: may('admin') && ((endpoint) => <EndpointActions {...props} endpoint={endpoint} />),
      }}
    />
  );
}

function EndpointActions(props: ChangeProps & { readonly endpoint: Endpoint }) {
  const { endpoint, onChanged, onTested } = props;
  const path = `${ENDPOINTS}/${endpoint.id}`;
  const isActive = endpoint.status === 'active';
  const send = () =>
    client.api(`${path}/test`, { method: 'POST' }).then(() => {
      say(t('webhooks.testSent'));
      onTested();
    }, complain);
  const toggle = () => {
    const body = { status: isActive ? 'disabled' : 'active' };
    client.api(path, { method: 'PATCH', body }).then(onChanged, complain);
  };
  return (
    <div class="actions">
      {isActive && <Button text={t('webhooks.test')} onClick={send} />}
      <DialogButton label={t('webhooks.edit')}>
        {(close) => (
          <EditEndpoint path={path} endpoint={endpoint} onChanged={onChanged} onClose={close} />
        )}
      </DialogButton>
      <Button text={t(isActive ? 'webhooks.disable' : 'webhooks.enable')} onClick={toggle} />
      <ConfirmButton
        label={t('webhooks.delete')}
        question={t('webhooks.deleteQuestion', { url: endpoint.url })}
        onConfirm={() => client.api(path, { method: 'DELETE' }).then(onChanged)}
      />
    </div>
  );
}

const SECRET = 'api/account/signing-secret';

/** The secrets that sign webhooks: a new one is prepared, given to the receivers, and activated. */
function SigningSecretCard() {
  const loaded = useApi<SigningSecret>(SECRET);
  const send = (path: string, method: 'POST' | 'DELETE') =>
    client.api(`${SECRET}${path}`, { method }).then(loaded.reload);
  return (
    <Section title={t('secret.title')}>
      <p>{t('secret.text')}</p>
      <Shown loaded={loaded}>
        {({ preparedSecret: prepared, previousValidUntil: until }) => (
          <>
            {prepared === null ? (
              <Button text={t('secret.prepare')} onClick={() => send('', 'POST').catch(complain)} />
            ) : (
              <>
                <p>{t('secret.prepared')}</p>
                <code class="secret">{prepared}</code>
                <div class="actions">
                  <ConfirmButton
                    label={t('agents.activate')}
                    question={t('secret.activateQuestion')}
                    onConfirm={() => send('/activate', 'POST')}
                    class="main"
                  />
                  <ConfirmButton
                    label={t('secret.dropPrepared')}
                    question={t('secret.dropPreparedQuestion')}
                    onConfirm={() => send('/prepared', 'DELETE')}
                  />
                </div>
              </>
            )}
            {until !== null && (
              <>
                <p>{t('secret.previous', { until: formats.value.instant(until) })}</p>
                <ConfirmButton
                  label={t('secret.dropPrevious')}
                  question={t('secret.dropPreviousQuestion')}
                  onConfirm={() => send('/previous', 'DELETE')}
                />
              </>
            )}
          </>
        )}
      </Shown>
    </Section>
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

function NewEndpoint({ onMade }: { readonly onMade: () => void }) {
  const form = useForm(EMPTY, async ({ description, ...rest }) => {
    const body = { ...rest, ...(description !== '' && { description }) };
    await client.api(ENDPOINTS, { method: 'POST', body });
    say(t('webhooks.added'));
    form.change({ ...EMPTY, events: rest.events });
    onMade();
  });
  return (
    <Form form={form} label={t('webhooks.add')}>
      <EndpointFields form={form} />
    </Form>
  );
}

/** An endpoint of webhooks, made or changed. */
function EditEndpoint(props: {
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) {
  const { url, description, events } = props.endpoint;
  const form = useForm<Draft>({ url, description, events }, async (body) => {
    await client.api(props.path, { method: 'PATCH', body });
    say(t('webhooks.changed'));
    props.onChanged();
    props.onClose();
  });
  return (
    <Form form={form} label={t('app.save')} onCancel={props.onClose}>
      <EndpointFields form={form} />
    </Form>
  );
}

function EndpointFields({ form: { field } }: { readonly form: FormState<Draft> }) {
  return (
    <>
      <TextField label={t('field.url')} type="url" {...field('url')} />
      <TextField label={t('field.description')} {...field('description')} />
      <ChecksField
        label={t('field.events')}
        {...field('events')}
        options={EVENTS.map((event) => [event, event])}
      />
    </>
  );
}
