/** The form of an SMS gateway; its secret is never shown again. */
import type { SmsGateway } from '../api-types.ts';
import { say, t, word } from '../app-state.ts';
import { FormConflict } from '../forms/change-conflict.tsx';
import { useResourceForm } from '../forms/use-resource-form.ts';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState } from '../parts/form.tsx';
import { AddressHelp } from '../tools/address-help.tsx';
import {
  bodyOf,
  changesOf,
  draftOf,
  GATEWAY_TYPES,
  type GatewayDraft,
  hasTemplate,
  NEW_GATEWAY,
  needsOf,
  rowsText,
} from './gateway-draft.ts';
import { TemplateFields } from './template-fields.tsx';

export const GATEWAYS = 'api/sms-gateways';

/** @param props.gateway undefined where one is made. */
export function GatewayForm(props: {
  readonly gateway: SmsGateway | undefined;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}) {
  const { gateway } = props;
  const form = useResourceForm<GatewayDraft, SmsGateway>({
    list: GATEWAYS,
    resource: gateway,
    blank: () => NEW_GATEWAY,
    ...{ draftOf, bodyOf, changesOf },
    onSaved: () => {
      say(t('sms.saved'));
      props.onSaved();
      props.onClose();
    },
  });
  const isNew = gateway === undefined;
  return (
    <Form form={form} label={t(isNew ? 'sms.add' : 'app.save')} onCancel={props.onClose}>
      <FormConflict form={form} textsOf={textsOf} />
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
      {form.values.type === 'webhook' && <TemplateFields form={form} />}
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
      <AddressHelp error={form.error} />
    </Form>
  );
}

/** A gateway by the labels of its fields. */
function textsOf(draft: GatewayDraft) {
  return {
    [t('sms.from')]: draft.from,
    [t('sms.username')]: draft.username,
    [t('field.url')]: draft.url,
    [t('sms.format')]: word('sms.format', draft.format),
    ...(hasTemplate(draft) && {
      [t('sms.fields')]: rowsText(draft.fields),
      [t('tool.headers')]: rowsText(draft.headers),
      [t('sms.idPath')]: draft.idPath,
    }),
    [t('sms.links')]: draft.allowedLinks,
    [t('sms.dailyMax')]: draft.dailyMax,
    [t('tool.timeoutMs')]: draft.timeoutMs,
  };
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
