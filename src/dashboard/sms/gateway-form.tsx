/** The form of an SMS gateway; its secret is never shown again. */
import type { SmsGateway } from '../api-types.ts';
import { client, say, t, wordsOf } from '../app-state.ts';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState, useForm } from '../parts/form.tsx';
import { AddressHelp } from '../tools/address-help.tsx';
import {
  bodyOf,
  changesOf,
  draftOf,
  GATEWAY_TYPES,
  type GatewayDraft,
  NEW_GATEWAY,
  needsOf,
} from './gateway-draft.ts';

export const GATEWAYS = 'api/sms-gateways';

/** @param props.gateway undefined where one is made. */
export function GatewayForm(props: {
  readonly gateway: SmsGateway | undefined;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}) {
  const { gateway } = props;
  const begun = gateway === undefined ? NEW_GATEWAY : draftOf(gateway);
  const form = useForm<GatewayDraft>(begun, async (draft) => {
    if (gateway === undefined) {
      await client.api(GATEWAYS, { method: 'POST', body: bodyOf(draft) });
    } else {
      const body = changesOf(draft, begun);
      const path = `${GATEWAYS}/${gateway.name}`;
      if (Object.keys(body).length > 0) await client.api(path, { method: 'PATCH', body });
    }
    say(t('sms.saved'));
    props.onSaved();
    props.onClose();
  });
  const isNew = gateway === undefined;
  return (
    <Form form={form} label={t(isNew ? 'sms.add' : 'app.save')} onCancel={props.onClose}>
      {isNew && (
        <>
          <TextField label={t('field.name')} hint={t('sms.nameHint')} {...form.field('name')} />
          <SelectField
            label={t('sms.type')}
            {...form.field('type')}
            options={GATEWAY_TYPES.map((type) => [type, t(`sms.${type}`)])}
          />
        </>
      )}
      <TextField label={t('sms.from')} hint={t('sms.fromHint')} {...form.field('from')} />
      <Credentials form={form} isNew={isNew} />
      <TextField
        label={t('sms.links')}
        hint={t('sms.linksHint')}
        rows={2}
        {...form.field('allowedLinks')}
      />
      <div class="pair">
        <TextField label={t('sms.dailyMax')} type="number" {...form.field('dailyMax')} />
        <TextField label={t('tool.timeoutMs')} type="number" {...form.field('timeoutMs')} />
      </div>
      <AddressHelp text={form.error === undefined ? undefined : wordsOf(form.error)} />
    </Form>
  );
}

function Credentials(props: { readonly form: FormState<GatewayDraft>; readonly isNew: boolean }) {
  const { form, isNew } = props;
  const { type } = form.values;
  const needs = needsOf(type);
  return (
    <>
      {needs.username && <TextField label={t('sms.username')} {...form.field('username')} />}
      {needs.secret && (
        <TextField
          label={t('sms.secret')}
          type="password"
          autoComplete="new-password"
          hint={t(isNew ? 'sms.secretHint' : 'calendar.passwordKept')}
          {...form.field('secret')}
        />
      )}
      {type !== 'sip' && (
        <TextField label={t('field.url')} hint={t('sms.urlHint')} {...form.field('url')} />
      )}
    </>
  );
}
