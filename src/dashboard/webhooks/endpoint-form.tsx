/** An endpoint of webhooks, added or changed. */
import type { Endpoint } from '../api-types.ts';
import { client, say, t } from '../app-state.ts';
import { DialogButton } from '../parts/dialog.tsx';
import { ChecksField, TextField } from '../parts/field.tsx';
import { Form, type FormState, useForm } from '../parts/form.tsx';

export const ENDPOINTS = 'api/webhooks/endpoints';

const EVENTS = [
  'call.started',
  'call.ended',
  'call.transcribed',
  'appointment.booked',
  'call.bridged',
] as const;

type Draft = Pick<Endpoint, 'url' | 'description' | 'events'>;

const EMPTY: Draft = { url: '', description: '', events: EVENTS };

interface FormProps {
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function NewEndpointButton({ onAdded }: { readonly onAdded: () => void }) {
  return (
    <DialogButton label={t('webhooks.add')} class="main" needs="admin">
      {(close) => <NewEndpoint onDone={onAdded} onClose={close} />}
    </DialogButton>
  );
}

function NewEndpoint({ onDone, onClose }: FormProps) {
  const form = useForm(EMPTY, async ({ description, ...rest }) => {
    const body = { ...rest, ...(description !== '' && { description }) };
    await client.api(ENDPOINTS, { method: 'POST', body });
    say(t('webhooks.added'));
    onDone();
    onClose();
  });
  return (
    <Form form={form} label={t('webhooks.add')} onCancel={onClose}>
      <EndpointFields form={form} />
    </Form>
  );
}

export function EditEndpoint(props: FormProps & { readonly endpoint: Endpoint }) {
  const { id, url, description, events } = props.endpoint;
  const form = useForm<Draft>({ url, description, events }, async (body) => {
    await client.api(`${ENDPOINTS}/${id}`, { method: 'PATCH', body });
    say(t('webhooks.changed'));
    props.onDone();
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
