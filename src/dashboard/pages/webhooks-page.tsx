/** Webhooks: who is told of what, whether it arrived, and the secret that signs it. */
import { useState } from 'preact/hooks';
import { messageUnder } from '../api-error.ts';
import type { Endpoint, Paged, SigningSecret } from '../api-types.ts';
import { client, complain, formats, say, t } from '../app-state.ts';
import { Deliveries } from '../parts/deliveries.tsx';
import { ConfirmButton, Dialog } from '../parts/dialog.tsx';
import { ChecksField, TextField } from '../parts/field.tsx';
import { Missing, Page, Problem, Section, Shown, State, Table } from '../parts/page.tsx';
import { useLoad, useSubmit } from '../parts/use-load.ts';

/** @param props.id of the endpoint that a link leads to; empty for the page itself. */
export function WebhooksPage({ id }: { readonly id: string }) {
  const [round, setRound] = useState(0);
  const loaded = useLoad(
    (signal) =>
      client.api<Paged<Endpoint>>('api/webhooks/endpoints', { query: { limit: 100 }, signal }),
    [],
  );
  const isUnknown = id !== '' && loaded.value?.data.some((one) => one.id === id) === false;
  return (
    <Page title={t('webhooks.title')}>
      {isUnknown ? (
        <Missing what="endpoint" path={`api/webhooks/endpoints/${encodeURIComponent(id)}`} />
      ) : null}
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
      <NewEndpoint onMade={loaded.reload} />
      <Deliveries key={round} endpoints={loaded.value?.data ?? []} />
      <SigningSecretCard />
    </Page>
  );
}

function EndpointTable(props: {
  readonly endpoints: readonly Endpoint[];
  readonly onChanged: () => void;
  readonly onTested: () => void;
}) {
  if (props.endpoints.length === 0) return <p class="empty">{t('webhooks.none')}</p>;
  const heads = ['url', 'description', 'events', 'status', 'actions'] as const;
  return (
    <Table label={t('webhooks.endpoints')} heads={heads.map((head) => t(`webhooks.${head}`))}>
      {props.endpoints.map((endpoint) => (
        <tr key={endpoint.id}>
          <td class="url">{endpoint.url}</td>
          <td>{endpoint.description}</td>
          <td class="small">{endpoint.events.join(', ')}</td>
          <td>
            <State of={endpoint.status} /> {endpoint.disabledReason}
          </td>
          <td>
            <EndpointActions {...props} endpoint={endpoint} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function EndpointActions(props: {
  readonly endpoint: Endpoint;
  readonly onChanged: () => void;
  readonly onTested: () => void;
}) {
  const { id, status } = props.endpoint;
  const [isEditing, setEditing] = useState(false);
  const path = `api/webhooks/endpoints/${id}`;
  const isActive = status === 'active';
  const send = () =>
    client.api(`${path}/test`, { method: 'POST' }).then(() => {
      say(t('webhooks.testSent'));
      props.onTested();
    }, complain);
  const toggle = () => {
    const body = { status: isActive ? 'disabled' : 'active' };
    client.api(path, { method: 'PATCH', body }).then(props.onChanged, complain);
  };
  const remove = () => client.api(path, { method: 'DELETE' }).then(props.onChanged);
  return (
    <div class="actions">
      {isActive ? (
        <button type="button" onClick={send}>
          {t('webhooks.test')}
        </button>
      ) : null}
      <button type="button" onClick={() => setEditing(true)}>
        {t('webhooks.edit')}
      </button>
      {isEditing ? (
        <EditEndpoint
          endpoint={props.endpoint}
          onChanged={props.onChanged}
          onClose={() => setEditing(false)}
        />
      ) : null}
      <button type="button" onClick={toggle}>
        {t(isActive ? 'webhooks.disable' : 'webhooks.enable')}
      </button>
      <ConfirmButton
        label={t('webhooks.delete')}
        question={t('webhooks.deleteQuestion', { url: props.endpoint.url })}
        onConfirm={remove}
      />
    </div>
  );
}

const PATH = 'api/account/signing-secret';

/** The secrets that sign webhooks: a new one is prepared, given to the receivers, and activated. */
function SigningSecretCard() {
  const loaded = useLoad((signal) => client.api<SigningSecret>(PATH, { signal }), []);
  return (
    <Section title={t('secret.title')}>
      <p>{t('secret.text')}</p>
      <Shown loaded={loaded}>
        {(secrets) => (
          <>
            <Prepared secret={secrets.preparedSecret} onChanged={loaded.reload} />
            <Previous until={secrets.previousValidUntil} onChanged={loaded.reload} />
          </>
        )}
      </Shown>
    </Section>
  );
}

function Prepared(props: { readonly secret: string | null; readonly onChanged: () => void }) {
  const { secret, onChanged } = props;
  const post = (path: string) => client.api(path, { method: 'POST' }).then(onChanged);
  if (secret === null) {
    return (
      <button type="button" onClick={() => void post(PATH).catch(complain)}>
        {t('secret.prepare')}
      </button>
    );
  }
  return (
    <>
      <p>{t('secret.prepared')}</p>
      <code class="secret">{secret}</code>
      <div class="actions">
        <ConfirmButton
          label={t('secret.activate')}
          question={t('secret.activateQuestion')}
          onConfirm={() => post(`${PATH}/activate`)}
          class="main"
        />
        <ConfirmButton
          label={t('secret.dropPrepared')}
          question={t('secret.dropPreparedQuestion')}
          onConfirm={() => client.api(`${PATH}/prepared`, { method: 'DELETE' }).then(onChanged)}
        />
      </div>
    </>
  );
}

function Previous(props: { readonly until: string | null; readonly onChanged: () => void }) {
  const { until, onChanged } = props;
  if (until === null) return null;
  return (
    <>
      <p>{t('secret.previous', { until: formats.value.instant(until) })}</p>
      <ConfirmButton
        label={t('secret.dropPrevious')}
        question={t('secret.dropPreviousQuestion')}
        onConfirm={() => client.api(`${PATH}/previous`, { method: 'DELETE' }).then(onChanged)}
      />
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

function NewEndpoint({ onMade }: { readonly onMade: () => void }) {
  const [draft, setDraft] = useState(EMPTY);
  const submit = useSubmit(async () => {
    const { description, ...rest } = draft;
    const body = { ...rest, ...(description === '' ? {} : { description }) };
    await client.api('api/webhooks/endpoints', { method: 'POST', body });
    say(t('webhooks.added'));
    setDraft((before) => ({ ...EMPTY, events: before.events }));
    onMade();
  });
  return (
    <Section title={t('webhooks.new')}>
      <form class="form" onSubmit={submit.submit} noValidate>
        <EndpointFields draft={draft} onDraft={setDraft} wrong={submit.wrong} />
        {submit.error === undefined ? null : <Problem error={submit.error} />}
        <div class="actions">
          <button type="submit" class="main" disabled={submit.isBusy}>
            {t('webhooks.add')}
          </button>
        </div>
      </form>
    </Section>
  );
}

/** An endpoint of webhooks, made or changed. */
function EditEndpoint(props: {
  readonly endpoint: Endpoint;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) {
  const { id, url, description, events } = props.endpoint;
  const [draft, setDraft] = useState<Draft>({ url, description, events });
  const submit = useSubmit(async () => {
    await client.api(`api/webhooks/endpoints/${id}`, { method: 'PATCH', body: draft });
    say(t('webhooks.changed'));
    props.onChanged();
    props.onClose();
  });
  return (
    <Dialog title={t('webhooks.edit')} onClose={props.onClose}>
      <form onSubmit={submit.submit} noValidate>
        <EndpointFields draft={draft} onDraft={setDraft} wrong={submit.wrong} />
        {submit.error === undefined ? null : <Problem error={submit.error} />}
        <div class="actions">
          <button type="button" onClick={props.onClose}>
            {t('app.cancel')}
          </button>
          <button type="submit" class="main" disabled={submit.isBusy}>
            {t('app.save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function EndpointFields(props: {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly wrong: Readonly<Record<string, string>>;
}) {
  const { draft, onDraft, wrong } = props;
  return (
    <>
      <TextField
        label={t('webhooks.url')}
        type="url"
        error={wrong.url}
        value={draft.url}
        onValue={(url) => onDraft({ ...draft, url })}
      />
      <TextField
        label={t('webhooks.description')}
        error={wrong.description}
        value={draft.description}
        onValue={(description) => onDraft({ ...draft, description })}
      />
      <ChecksField
        label={t('webhooks.events')}
        error={messageUnder(wrong, 'events')}
        values={draft.events}
        options={EVENTS.map((event) => [event, event])}
        onValues={(events) => onDraft({ ...draft, events })}
      />
    </>
  );
}
