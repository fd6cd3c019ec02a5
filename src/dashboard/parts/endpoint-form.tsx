/** An endpoint of webhooks, made or changed. */
import { useState } from 'preact/hooks';
import { messageUnder } from '../api-error.ts';
import type { Endpoint } from '../api-types.ts';
import { client, say, t } from '../app-state.ts';
import { Dialog } from './dialog.tsx';
import { ChecksField, TextField } from './field.tsx';
import { Problem, Section } from './page.tsx';
import { useSubmit } from './use-submit.ts';

const EVENTS = [
  'call.started',
  'call.ended',
  'call.transcribed',
  'appointment.booked',
  'call.bridged',
] as const;

type Draft = Pick<Endpoint, 'url' | 'description' | 'events'>;

const EMPTY: Draft = { url: '', description: '', events: EVENTS };

export function NewEndpoint({ onMade }: { readonly onMade: () => void }) {
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

export function EditEndpoint(props: {
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
