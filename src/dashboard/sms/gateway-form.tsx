/** The form of an SMS gateway, with the request that a gateway on one's own server gets; its secret is never shown again. */

import { messageUnder } from '../api-error.ts';
import type { SmsGateway } from '../api-types.ts';
import { say, t, word } from '../app-state.ts';
import { FormConflict, useResourceForm } from '../forms/resource-form.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState } from '../parts/form.tsx';
import { RowsField } from '../parts/rows-field.tsx';
import { AddressHelp } from '../tools/http-request.tsx';
import {
  bodyOf,
  changesOf,
  draftOf,
  GATEWAY_TYPES,
  type GatewayDraft,
  hasTemplate,
  NEW_GATEWAY,
  NEW_ROW,
  needsOf,
  REQUEST_FORMATS,
  rowsText,
} from './gateway-draft.ts';

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
            label={t('field.gatewayType')}
            {...form.field('type')}
            options={GATEWAY_TYPES.map((type) => [type, t(`sms.${type}`)])}
          />
        </>
      )}
      <TextField label={t('field.sender')} hint={t('sms.fromHint')} {...form.field('from')} />
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
    [t('field.sender')]: draft.from,
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

/** As many as the server takes. */
const ROWS_MAX = 30;

/** Places of a template, as the manual describes them. */
const PLACES = [
  ...['to', 'toDigits', 'from', 'fromDigits', 'text', 'alphabet', 'id', 'statusUrl'],
  ...['username', 'secret', 'basic'],
];

const placesText = PLACES.map((name) => `{${name}}`).join(', ');

function TemplateFields({ form }: { readonly form: FormState<GatewayDraft> }) {
  const { value: format, onValue } = form.field('format');
  return (
    <>
      <SelectField
        label={t('sms.format')}
        hint={t('sms.formatHint')}
        value={format}
        error={form.wrong.template}
        onValue={onValue}
        options={REQUEST_FORMATS.map((name) => [name, t(`sms.format.${name}`)])}
      />
      {hasTemplate(form.values) && (
        <>
          <TemplateRows form={form} name="fields" path="template.body" />
          <TemplateRows form={form} name="headers" path="template.headers" />
          <TextField
            label={t('sms.idPath')}
            hint={t('sms.idPathHint')}
            value={form.values.idPath}
            error={messageUnder(form.wrong, 'template.idPath')}
            onValue={(idPath) => form.change({ idPath })}
          />
        </>
      )}
    </>
  );
}

function TemplateRows(props: {
  readonly form: FormState<GatewayDraft>;
  readonly name: 'fields' | 'headers';
  readonly path: string;
}) {
  const { form, name, path } = props;
  const isHeader = name === 'headers';
  const wrong = messageUnder(form.wrong, path);
  return (
    <RowsField
      label={t(isHeader ? 'tool.headers' : 'sms.fields')}
      hint={isHeader ? t('sms.headersHint') : t('sms.fieldsHint', { places: placesText })}
      path={path}
      wrong={wrong === undefined ? {} : { [path]: wrong }}
      rows={form.values[name]}
      columns={[
        { name: 'name', label: t(isHeader ? 'tool.header' : 'sms.field') },
        { name: 'value', label: t('tool.headerValue') },
      ]}
      empty={NEW_ROW}
      addText={t(isHeader ? 'tool.addHeader' : 'sms.addField')}
      nameOf={({ name: row }) => row}
      max={ROWS_MAX}
      onRows={(rows) => form.change({ [name]: rows })}
    />
  );
}
