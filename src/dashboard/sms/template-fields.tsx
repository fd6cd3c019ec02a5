/** The request that a gateway on one's own server gets: ours, or another one by a template. */
import { messageUnder } from '../api-error.ts';
import { t } from '../app-state.ts';
import { SelectField, TextField } from '../parts/field.tsx';
import type { FormState } from '../parts/form.tsx';
import { RowsField } from '../parts/rows-field.tsx';
import { type GatewayDraft, hasTemplate, NEW_ROW, REQUEST_FORMATS } from './gateway-draft.ts';

/** As many as the server takes. */
const ROWS_MAX = 30;

/** Places of a template, as the manual describes them. */
const PLACES = [
  ...['to', 'toDigits', 'from', 'fromDigits', 'text', 'alphabet', 'id', 'statusUrl'],
  ...['username', 'secret', 'basic'],
];

const placesText = PLACES.map((name) => `{${name}}`).join(', ');

export function TemplateFields({ form }: { readonly form: FormState<GatewayDraft> }) {
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
