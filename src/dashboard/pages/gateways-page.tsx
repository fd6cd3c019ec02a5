/** The SMS gateways that messages of agents go out over, with their form, and the numbers that want no messages (opt-outs). */

import { messageUnder } from '../api-error.ts';
import type { SmsGateway, SmsOptOut } from '../api-types.ts';
import { client, may, refresh, say, t, word } from '../app-state.ts';
import { FormConflict, useResourceForm } from '../forms/resource-form.tsx';
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
  typeOf,
} from '../gateway-draft.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState, RowsField, useForm } from '../parts/form.tsx';
import { Empty, Instant, Page, PagedTable, Section } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { AddressHelp } from '../tools/http-request.tsx';

export function GatewaysPage() {
  const loaded = usePages<SmsGateway>(GATEWAYS, 50);
  return (
    <Page
      title={t('nav.gateways')}
      actions={
        <DialogButton needs="admin" label={t('sms.add')} class="main">
          {(close) => <GatewayForm gateway={undefined} onClose={close} />}
        </DialogButton>
      }
    >
      <PagedTable
        label={t('nav.gateways')}
        empty={<Empty text={t('sms.none')} />}
        loaded={loaded}
        columns={{
          name: ({ name }) => <code>{name}</code>,
          gatewayType: (gateway) => t(`sms.${typeOf(gateway)}`),
          sender: ['number', ({ from }) => from],
          // Its holder can report states of messages.
          reportsTo: may('admin') && ['url', ({ callbackUrl }) => callbackUrl ?? '–'],
          actions: (gateway) => <Actions gateway={gateway} />,
        }}
      />
      <OptOuts />
    </Page>
  );
}

function Actions({ gateway }: { readonly gateway: SmsGateway }) {
  return (
    <div class="actions">
      <DialogButton needs="admin" label={t('webhooks.edit')} title={gateway.name}>
        {(close) => <GatewayForm gateway={gateway} onClose={close} />}
      </DialogButton>
      <ConfirmButton
        needs="admin"
        label={t('knowledge.delete')}
        question={t('sms.deleteQuestion', { name: gateway.name })}
        onConfirm={() =>
          client.api(`${GATEWAYS}/${gateway.name}`, { method: 'DELETE' }).then(refresh)
        }
      />
    </div>
  );
}

const OPT_OUTS = 'api/sms-opt-outs';

const PER_PAGE = 50;

export function OptOuts() {
  const loaded = usePages<SmsOptOut>(OPT_OUTS, PER_PAGE);
  return (
    <Section
      title={t('sms.optOuts')}
      actions={
        <DialogButton needs="admin" label={t('sms.addOptOut')}>
          {(close) => <OptOutForm onClose={close} />}
        </DialogButton>
      }
    >
      <p class="muted">{t('sms.optOutsHint')}</p>
      <PagedTable
        label={t('sms.optOuts')}
        empty={t('sms.noOptOuts')}
        loaded={loaded}
        keyOf={({ number }) => number}
        columns={{
          number: ['number', ({ number }) => number],
          since: ({ createdAt }) => <Instant at={createdAt} />,
          actions: ({ number }) => (
            <ConfirmButton
              needs="admin"
              label={t('sms.allow')}
              question={t('sms.allowQuestion', { number })}
              done={t('sms.allowed')}
              onConfirm={() => client.api(pathOf(number), { method: 'DELETE' }).then(refresh)}
            />
          ),
        }}
      />
    </Section>
  );
}

function OptOutForm({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({ number: '' }, async ({ number }) => {
    await client.api(pathOf(number.trim()), { method: 'PUT' });
    say(t('sms.optOutAdded'));
    refresh();
    onClose();
  });
  return (
    <Form form={form} label={t('sms.addOptOut')} onCancel={onClose} isChecked>
      <TextField
        type="tel"
        isRequired
        {...form.field('number', 'field.number', 'sms.optOutHint')}
      />
    </Form>
  );
}

function pathOf(number: string): string {
  return `${OPT_OUTS}/${encodeURIComponent(number)}`;
}

export const GATEWAYS = 'api/sms-gateways';

/** @param props.gateway undefined where one is made. */
export function GatewayForm(props: {
  readonly gateway: SmsGateway | undefined;
  readonly onClose: () => void;
}) {
  const { gateway } = props;
  const form = useResourceForm<GatewayDraft, SmsGateway>({
    list: GATEWAYS,
    resource: gateway,
    blank: () => NEW_GATEWAY,
    ...{ draftOf, bodyOf, changesOf },
    saved: 'sms.saved',
    onSaved: props.onClose,
  });
  const isNew = gateway === undefined;
  return (
    <Form form={form} label={t(isNew ? 'sms.add' : 'app.save')} onCancel={props.onClose}>
      <FormConflict form={form} textsOf={textsOf} />
      {isNew && (
        <>
          <TextField {...form.field('name', 'field.name', 'sms.nameHint')} />
          <SelectField
            {...form.field('type', 'field.gatewayType')}
            options={GATEWAY_TYPES.map((type) => [type, t(`sms.${type}`)])}
          />
        </>
      )}
      <TextField {...form.field('from', 'field.sender', 'sms.fromHint')} />
      <Credentials form={form} isNew={isNew} />
      {form.values.type === 'webhook' && <TemplateFields form={form} />}
      <TextField rows={2} {...form.field('allowedLinks', 'sms.links', 'sms.linksHint')} />
      <div class="pair">
        <TextField type="number" {...form.field('dailyMax', 'sms.dailyMax')} />
        <TextField type="number" {...form.field('timeoutMs', 'tool.timeoutMs')} />
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
      {needs.username && <TextField {...form.field('username', 'sms.username')} />}
      {needs.secret && (
        <TextField
          type="password"
          autoComplete="new-password"
          hint={t(isNew ? 'sms.secretHint' : 'calendar.passwordKept')}
          {...form.field('secret', 'sms.secret')}
        />
      )}
      {type !== 'sip' && <TextField {...form.field('url', 'field.url', 'sms.urlHint')} />}
    </>
  );
}

/** The server's limit. */
const ROWS_MAX = 30;

/** Places of a template, as the manual describes them. */
const PLACES = [
  ...['to', 'toDigits', 'from', 'fromDigits', 'text', 'alphabet', 'id', 'statusUrl'],
  ...['username', 'secret', 'basic'],
];

const placesText = PLACES.map((name) => `{${name}}`).join(', ');

function TemplateFields({ form }: { readonly form: FormState<GatewayDraft> }) {
  return (
    <>
      <SelectField
        {...form.field('format', 'sms.format', 'sms.formatHint')}
        error={form.wrong.template}
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
