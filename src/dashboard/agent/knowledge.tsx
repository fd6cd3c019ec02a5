/** The documents that an agent answers from: added as a file or as text, looked at, deleted; and their page, an agent at a time. */
import { messageUnder } from '../api-error.ts';
import type { KnowledgeDocument, KnowledgeText } from '../api-types.ts';
import { client, formats, refresh, say, t } from '../app-state.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { FileField, SelectField, TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import {
  Empty,
  Instant,
  LinkButton,
  Loading,
  Page,
  PagedTable,
  Scroller,
  Section,
  Shown,
} from '../parts/page.tsx';
import { useAgents, useApi, usePages } from '../parts/use-load.ts';

const PER_PAGE = 10;

/** Reading a large PDF takes its time. */
const UPLOAD_MS_MAX = 120_000;

const FILE_TYPES = '.txt,.md,.markdown,.html,.htm,.pdf';

export function Knowledge({ agentId }: { readonly agentId: string }) {
  const path = `api/agents/${encodeURIComponent(agentId)}/knowledge`;
  const loaded = usePages<KnowledgeDocument>(path, PER_PAGE);
  return (
    <Section
      title={t('nav.knowledge')}
      actions={
        <DialogButton label={t('knowledge.add')} needs="editor">
          {(close) => <AddDocument path={path} onClose={close} />}
        </DialogButton>
      }
    >
      <PagedTable
        label={t('nav.knowledge')}
        loaded={loaded}
        empty={t('knowledge.none')}
        columns={{
          name: ['cut', ({ name }) => name],
          no: ['figure', ({ version }) => version],
          passages: ['figure', ({ passages }) => formats.value.count(passages)],
          changedAt: ({ updatedAt }) => <Instant at={updatedAt} />,
          actions: ({ id, name }) => <DocumentActions path={`${path}/${id}`} name={name} />,
        }}
      />
    </Section>
  );
}

function DocumentActions({ path, name }: { readonly path: string; readonly name: string }) {
  return (
    <div class="actions">
      <DialogButton label={t('knowledge.read')} title={name}>
        {() => <DocumentText path={path} />}
      </DialogButton>
      <ConfirmButton
        needs="editor"
        label={t('knowledge.delete')}
        question={t('knowledge.deleteQuestion', { name })}
        onConfirm={() => client.api(path, { method: 'DELETE' }).then(refresh)}
      />
    </div>
  );
}

/** Text that the server has read out of the document. */
function DocumentText({ path }: { readonly path: string }) {
  const loaded = useApi<KnowledgeText>(path);
  return (
    <Shown loaded={loaded}>
      {({ text }) => (
        <Scroller class="document" label={t('field.text')}>
          <pre>{text}</pre>
        </Scroller>
      )}
    </Shown>
  );
}

interface Draft {
  readonly name: string;
  readonly file: File | null;
  readonly text: string;
}

function AddDocument(props: { readonly path: string; readonly onClose: () => void }) {
  const form = useForm<Draft>({ name: '', file: null, text: '' }, async (draft) => {
    const signal = AbortSignal.timeout(UPLOAD_MS_MAX);
    await client.api(props.path, { method: 'POST', body: bodyOf(draft), signal });
    say(t('knowledge.added'));
    refresh();
    props.onClose();
  });
  return (
    <Form form={form} label={t('knowledge.add')} onCancel={props.onClose}>
      <FileField
        label={t('knowledge.file')}
        hint={t('knowledge.fileHint')}
        accept={FILE_TYPES}
        error={messageUnder(form.wrong, 'file')}
        onFile={(file) => form.change({ file })}
      />
      {form.values.file === null && (
        <TextField rows={8} {...form.field('text', 'knowledge.text')} />
      )}
      <TextField {...form.field('name', 'field.name', 'knowledge.nameHint')} />
    </Form>
  );
}

/** A file keeps its own name where none is typed. */
function bodyOf({ name, file, text }: Draft): FormData | object {
  if (file === null) return { name, text };
  const body = new FormData();
  if (name.trim() !== '') body.set('name', name);
  body.set('file', file);
  return body;
}

/** @param props.id of the agent; the newest one's unless given. */
export function KnowledgePage({ id }: { readonly id: string }) {
  const agents = useAgents();
  const agentId = id || agents.list[0]?.id;
  return (
    <Page title={t('nav.knowledge')}>
      {!agents.isSettled && <Loading />}
      {agents.isSettled && agentId === undefined && (
        <Empty text={t('knowledge.noAgents')}>
          <LinkButton needs="editor" isMain href="#/agents/new" text={t('agents.first')} />
        </Empty>
      )}
      {agents.isSettled && agentId !== undefined && (
        <>
          <div class="filters">
            <SelectField
              label={t('field.agent')}
              value={agentId}
              options={agents.options}
              onValue={(chosen) => location.replace(`#/knowledge/${chosen}`)}
            />
          </div>
          <Knowledge agentId={agentId} />
        </>
      )}
    </Page>
  );
}
