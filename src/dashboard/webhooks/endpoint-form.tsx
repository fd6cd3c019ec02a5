/** An endpoint of webhooks, added or changed. */
import type { Endpoint } from '../api-types.ts';
import { client, say, t } from '../app-state.ts';
import { DialogButton } from '../parts/dialog.tsx';
import { ChecksField, TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';

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

export function NewEndpointButton({ onAdded }: { readonly onAdded: () => void }) {
  return (
    <DialogButton label={t('webhooks.add')} class="main" needs="admin">
      {(close) => <EndpointForm endpoint={undefined} onDone={onAdded} onClose={close} />}
    </DialogButton>
  );
}

/** @param props.endpoint undefined where one is added. */
export function EndpointForm(props: {
  readonly endpoint: Endpoint | undefined;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const { endpoint, onDone, onClose } = props;
  const { url, description, events } = endpoint ?? EMPTY;
  const form = useForm<Draft>({ url, description, events }, async (draft) => {
    await (endpoint === undefined
      ? client.api(ENDPOINTS, { method: 'POST', body: newBodyOf(draft) })
      : client.api(`${ENDPOINTS}/${endpoint.id}`, { method: 'PATCH', body: draft }));
    say(t(endpoint === undefined ? 'webhooks.added' : 'webhooks.changed'));
    onDone();
    onClose();
  });
  return (
    <Form
      form={form}
      label={t(endpoint === undefined ? 'webhooks.add' : 'app.save')}
      onCancel={onClose}
    >
      <TextField label={t('field.url')} type="url" {...form.field('url')} />
      <TextField label={t('field.description')} {...form.field('description')} />
      <ChecksField
        label={t('field.events')}
        {...form.field('events')}
        options={EVENTS.map((event) => [event, event])}
      />
    </Form>
  );
}

function newBodyOf({ description, ...rest }: Draft): object {
  return { ...rest, ...(description !== '' && { description }) };
}
