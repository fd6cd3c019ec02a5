/** A new campaign: the list from a file or as text, looked at before it is sent, and the pace. */
import { useMemo } from 'preact/hooks';
import type { Campaign } from '../api-types.ts';
import { client, complain, formats, t } from '../app-state.ts';
import { type ContactList, contactListOf } from '../csv.ts';
import { FileField, SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState, useForm } from '../parts/form.tsx';
import { Page, Table } from '../parts/page.tsx';
import { useAgents } from '../parts/use-load.ts';

const ROWS_SHOWN = 5;

const PROBLEMS_SHOWN = 20;

/** The API's limit for a list. */
const LIST_BYTES_MAX = 1_000_000;

const EMPTY = {
  ...{ name: '', agentId: '', from: '', csv: '', callsPerMinute: '10', maxConcurrentCalls: '5' },
  ...{ notBefore: '', notAfter: '', retries: '0', retryMinutes: '15' },
};

type Draft = typeof EMPTY;

export function NewCampaignPage() {
  const agents = useAgents();
  const form = useForm(EMPTY, async (draft) => {
    const body = bodyOf({ ...draft, agentId: draft.agentId || (agents.list[0]?.id ?? '') });
    const { id } = await client.api<Campaign>('api/campaigns', { method: 'POST', body });
    location.assign(`#/campaigns/${id}`);
  });
  const { csv } = form.values;
  const list = useMemo(() => contactListOf(csv), [csv]);
  const isWrong = list.problems.length > 0;
  const { field } = form;
  return (
    <Page title={t('campaigns.new')}>
      <Form
        form={{ ...form, isBusy: form.isBusy || isWrong }}
        label={t('campaigns.start')}
        needs="editor"
        isChecked
      >
        <TextField {...field('name', 'field.name')} isRequired />
        <SelectField
          {...field('agentId', 'field.agent')}
          value={form.values.agentId || (agents.list[0]?.id ?? '')}
          options={agents.options}
        />
        <ListFields form={form} list={list} />
        <TextField type="tel" {...field('from', 'field.from', 'placeCall.fromHint')} />
        <PaceFields form={form} />
      </Form>
    </Page>
  );
}

function ListFields(props: { readonly form: FormState<Draft>; readonly list: ContactList }) {
  const { form, list } = props;
  const { count } = formats.value;
  const { contacts, problems } = list;
  const read = async (file: File | null) => {
    if (file === null) return;
    if (file.size > LIST_BYTES_MAX) throw new Error(t('campaigns.tooLarge'));
    form.change({ csv: await file.text() });
  };
  return (
    <>
      <FileField
        label={t('campaigns.file')}
        accept=".csv,.tsv,.txt,text/csv"
        hint={t('campaigns.fileHint')}
        onFile={(file) => void read(file).catch(complain)}
      />
      <TextField rows={6} {...form.field('csv', 'campaigns.csv')} isRequired />
      <div role="status">
        {contacts.length > 0 && <p>{t('campaigns.found', { count: count(contacts.length) })}</p>}
        {problems.length > 0 && <Problems of={list} />}
      </div>
      {contacts.length > 0 && (
        <Table
          label={t('campaigns.preview')}
          rows={contacts.slice(0, ROWS_SHOWN)}
          columns={{
            row: ['number', ({ line }) => count(line)],
            number: ['number', ({ to }) => to],
            details: ({ more }) => more,
          }}
        />
      )}
    </>
  );
}

function Problems({ of: { problems } }: { readonly of: ContactList }) {
  const { count } = formats.value;
  const left = problems.length - PROBLEMS_SHOWN;
  return (
    <div class="box bad">
      <p>{t('campaigns.wrong', { count: count(problems.length) })}</p>
      <ul>
        {problems.slice(0, PROBLEMS_SHOWN).map(({ line, kind }) => (
          <li key={line}>{t(`campaigns.wrong.${kind}`, { line: count(line) })}</li>
        ))}
      </ul>
      {left > 0 && <p>{t('campaigns.wrongMore', { count: count(left) })}</p>}
    </div>
  );
}

function PaceFields({ form: { field, values, wrong } }: { readonly form: FormState<Draft> }) {
  const browserTime = t('campaigns.browserTime');
  return (
    <>
      <TextField type="number" {...field('callsPerMinute', 'campaigns.pace')} />
      <TextField type="number" {...field('maxConcurrentCalls', 'campaigns.atOnce')} />
      <TextField
        type="datetime-local"
        {...field('notBefore', 'campaigns.notBefore')}
        hint={browserTime}
      />
      <TextField
        type="datetime-local"
        {...field('notAfter', 'campaigns.notAfter')}
        hint={browserTime}
      />
      <TextField
        type="number"
        {...field('retries', 'campaigns.retries', 'campaigns.retriesHint')}
        error={wrong['retries.max']}
      />
      {Number(values.retries) > 0 && (
        <TextField
          type="number"
          {...field('retryMinutes', 'campaigns.retryMinutes')}
          error={wrong['retries.delaySeconds']}
        />
      )}
    </>
  );
}

/** Request body without empty fields, for which the API has defaults. */
function bodyOf(draft: Draft): object {
  const { name, agentId, csv, from, callsPerMinute, maxConcurrentCalls } = draft;
  const { notBefore, notAfter, retries, retryMinutes } = draft;
  return {
    ...{ name, agentId, csv },
    ...(from !== '' && { from }),
    ...(callsPerMinute !== '' && { callsPerMinute: Number(callsPerMinute) }),
    ...(maxConcurrentCalls !== '' && { maxConcurrentCalls: Number(maxConcurrentCalls) }),
    ...(notBefore !== '' && { notBefore: new Date(notBefore).toISOString() }),
    ...(notAfter !== '' && { notAfter: new Date(notAfter).toISOString() }),
    ...(Number(retries) > 0 && {
      retries: { max: Number(retries), delaySeconds: Math.round(Number(retryMinutes) * 60) },
    }),
  };
}
