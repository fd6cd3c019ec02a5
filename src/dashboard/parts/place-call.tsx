/** The window that places one call; a refusal by the dial policy is shown next to its field. */
import { ApiError } from '../api-error.ts';
import { client, isPlacingCall, say, sentence, t } from '../app-state.ts';
import { Dialog } from './dialog.tsx';
import { SelectField, TextField } from './field.tsx';
import { Form, useForm } from './form.tsx';
import { useAgents } from './use-load.ts';

const EMPTY = { agentId: '', to: '', from: '', greeting: '' };

/** It is opened by `isPlacingCall`. */
export function PlaceCall() {
  const close = () => {
    isPlacingCall.value = false;
  };
  return (
    <Dialog title={t('placeCall.title')} onClose={close}>
      <PlaceCallForm onClose={close} />
    </Dialog>
  );
}

/** Opens the page of the call. @param props.from number to begin with, such as one of a trunk that is to be tried. */
export function PlaceCallForm(props: {
  readonly from?: string | undefined;
  /** Closes the window around the form. */
  readonly onClose?: () => void;
}) {
  const { from: begun = '', onClose } = props;
  const agents = useAgents();
  const chosen = (agentId: string) => agentId || (agents.list[0]?.id ?? '');
  const form = useForm({ ...EMPTY, from: begun }, async ({ agentId, to, from, greeting }) => {
    const body = {
      ...{ agentId: chosen(agentId), to: to.trim() },
      ...(from.trim() !== '' && { from: from.trim() }),
      ...(greeting.trim() !== '' && { overrides: { greeting: greeting.trim() } }),
    };
    const path = 'api/calls/outbound';
    const { callId } = await client.api<{ readonly callId: string }>(path, {
      method: 'POST',
      body,
    });
    say(t('placeCall.queued'));
    onClose?.();
    location.assign(`#/calls/${callId}`);
  });
  const refused = refusalOf(form.error);
  const errorOf = (name: 'to' | 'from') =>
    refused?.field === name ? refused.why : form.wrong[name];
  return (
    <Form
      form={{ ...form, error: refused === undefined ? form.error : undefined }}
      label={t('placeCall.call')}
      onCancel={onClose}
      isChecked
    >
      <SelectField
        {...form.field('agentId', 'field.agent')}
        value={chosen(form.values.agentId)}
        options={agents.options}
      />
      <TextField
        type="tel"
        {...form.field('to', 'placeCall.to', 'placeCall.toHint')}
        error={errorOf('to')}
        isRequired
      />
      <TextField
        type="tel"
        {...form.field('from', 'field.from', 'placeCall.fromHint')}
        error={errorOf('from')}
      />
      <TextField
        rows={2}
        {...form.field('greeting', 'agent.greeting', 'placeCall.greetingHint')}
        error={form.wrong['overrides.greeting']}
      />
    </Form>
  );
}

/** Refusal by the dial policy, and its reason: `Cannot use to "+39…": its country may not be called`. */
const REFUSAL = /^Cannot use (to|from) "[^"]*": (.*)$/;

/** The field that a refusal is about. */
function refusalOf(error: unknown): { readonly field: string; readonly why: string } | undefined {
  if (!(error instanceof ApiError) || error.status !== 422) return undefined;
  const [, field, why = ''] = REFUSAL.exec(error.message) ?? [];
  if (field !== undefined) return { field, why: capitalized(sentence(why)) };
  return /\bfrom is missing\b/.test(error.message)
    ? { field: 'from', why: sentence(error.message) }
    : undefined;
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
