/** Tools of agents: the list of HTTP tools and MCP servers, and the page of one tool with its editor. */
import { useState } from 'preact/hooks';
import type { HttpTool, ToolTrial } from '../api-types.ts';
import { client, may, t } from '../app-state.ts';
import { BroughtBack } from '../forms/kept-form.tsx';
import {
  FormConflict,
  type ResourceFormState,
  ResourcePage,
  useResourceForm,
} from '../forms/resource-form.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState, useSubmit } from '../parts/form.tsx';
import { Ago, Empty, LinkButton, Page, PagedTable, Problem, Section } from '../parts/page.tsx';
import { usePages, useResource } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { AddressHelp, HeaderRows, TrialResult } from '../tools/http-request.tsx';
import { McpServers } from '../tools/mcp-servers.tsx';
import {
  argumentNames,
  bodyOf,
  changesOf,
  draftOf,
  headersText,
  jsonFault,
  METHODS,
  NEW_TOOL,
  sampleArguments,
  type ToolDraft,
  withoutSecrets,
} from '../tools/tool-draft.ts';

export function ToolsPage() {
  const loaded = usePages<HttpTool>('api/tools', 50);
  return (
    <Page
      title={t('nav.tools')}
      actions={<LinkButton needs="editor" isMain href={`#/tools/${NEW_ID}`} text={t('tool.new')} />}
    >
      <Section title={t('tool.list')}>
        <PagedTable
          label={t('tool.list')}
          empty={
            <Empty text={t('tool.none')}>
              <LinkButton needs="editor" href={`#/tools/${NEW_ID}`} text={t('tool.first')} />
            </Empty>
          }
          loaded={loaded}
          hrefOf={({ name }) => `#/tools/${name}`}
          columns={{
            name: ({ name }) => name,
            description: ['cut', ({ description }) => description],
            url: ['url', ({ method, url }) => `${method} ${url}`],
            changedAt: ({ updatedAt }) => <Ago at={updatedAt} />,
          }}
        />
      </Section>
      <McpServers />
    </Page>
  );
}

/** @param props.id the tool's name. */
export function ToolPage({ id }: { readonly id: string }) {
  const isNew = id === NEW_ID;
  const path = `api/tools/${encodeURIComponent(id)}`;
  const loaded = useResource<HttpTool>(isNew ? undefined : path);
  return (
    <ResourcePage kind="tool" title={isNew ? t('tool.new') : id} path={path} loaded={loaded}>
      {(tool) => <Panes tool={tool ?? undefined} />}
    </ResourcePage>
  );
}

function Panes({ tool }: { readonly tool: HttpTool | undefined }) {
  const form = useToolForm(tool);
  const isTested = tool !== undefined && may('editor');
  return (
    <div class={isTested ? 'panes' : 'panes panes-one'}>
      <div class="pane-main">
        <ToolForm form={form} isNew={tool === undefined} />
      </div>
      {isTested && <ToolTest tool={tool} isChanged={form.isChanged} />}
    </div>
  );
}

export function ToolTest(props: {
  readonly tool: HttpTool;
  /** Whether the form next to it has changes that the test does not include. */
  readonly isChanged: boolean;
}) {
  const { tool, isChanged } = props;
  const [given, setGiven] = useState(() =>
    JSON.stringify(sampleArguments(JSON.stringify(tool.parameters)), null, 2),
  );
  const [trial, setTrial] = useState<ToolTrial | undefined>(undefined);
  const fault = jsonFault(given);
  const { isBusy, error, submit } = useSubmit(async () => {
    setTrial(undefined);
    if (fault !== undefined) throw new Error(t('tool.notJson', fault));
    const body = { arguments: JSON.parse(given) };
    setTrial(await client.api(`api/tools/${tool.name}/test`, { method: 'POST', body }));
  });
  return (
    <aside class="pane-test" aria-label={t('tool.test')}>
      <Section title={t('tool.test')}>
        {isChanged && <p class="box busy small">{t('try.unsaved')}</p>}
        <p class="hint">{t('tool.testHint')}</p>
        <form onSubmit={submit} class="code">
          <TextField
            label={t('tool.arguments')}
            rows={5}
            value={given}
            error={fault && t('tool.notJson', fault)}
            onValue={setGiven}
          />
          <div class="actions">
            <button type="submit" class="main" disabled={isBusy}>
              {t('tool.run')}
            </button>
            {isBusy && <span role="status">{t('tool.running')}</span>}
          </div>
        </form>
        <Problem error={error} />
        {trial !== undefined && (
          <div class="outcome" role="status">
            <TrialResult isGood={trial.done} {...trial} />
            <h3>{t('tool.told')}</h3>
            <pre class="report">{trial.result}</pre>
          </div>
        )}
      </Section>
    </aside>
  );
}

const TOOLS = 'api/tools';

/** @param tool undefined where one is made. */
function useToolForm(tool: HttpTool | undefined) {
  return useResourceForm<ToolDraft, HttpTool>({
    list: TOOLS,
    resource: tool,
    blank: () => NEW_TOOL,
    draftOf,
    bodyOf: (draft) => bodyOf(readable(draft)),
    changesOf: (draft, begun) => changesOf(readable(draft), begun),
    withoutSecrets,
    saved: 'tool.saved',
    onSaved: ({ name }) => {
      if (tool === undefined) location.assign(`#/tools/${name}`);
    },
  });
}

/** @throws {Error} that says where the arguments stop being JSON. */
function readable(draft: ToolDraft): ToolDraft {
  const fault = jsonFault(draft.parameters);
  if (fault !== undefined) throw new Error(t('tool.notJson', fault));
  return draft;
}

/** A tool by the labels of its fields. */
function textsOf(draft: ToolDraft) {
  return {
    [t('field.description')]: draft.description,
    [t('tool.parameters')]: draft.parameters,
    [t('tool.method')]: draft.method,
    [t('field.url')]: draft.url,
    [t('tool.headers')]: headersText(draft.headers),
    [t('tool.timeoutMs')]: draft.timeoutMs,
    [t('tool.resultPath')]: draft.resultPath,
    [t('tool.sayWhileWaiting')]: draft.sayWhileWaiting,
  };
}

interface Fields {
  readonly form: FormState<ToolDraft>;
}

export function ToolForm(props: {
  readonly form: ResourceFormState<ToolDraft>;
  readonly isNew: boolean;
}) {
  const { form, isNew } = props;
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t(isNew ? 'tool.create' : 'app.save')} needs="editor">
        <FormConflict form={form} textsOf={textsOf} />
        {isNew && <TextField {...form.field('name', 'field.name', 'tool.nameHint')} />}
        <TextField
          rows={2}
          {...form.field('description', 'field.description', 'tool.descriptionHint')}
        />
        <ParametersField form={form} />
        <RequestFields form={form} />
        <AnswerFields form={form} />
        <AddressHelp error={form.error} />
      </Form>
    </div>
  );
}

/** Says where the text stops being JSON while it is typed. */
function ParametersField({ form }: Fields) {
  const { error, ...field } = form.field('parameters', 'tool.parameters', 'tool.parametersHint');
  const fault = jsonFault(field.value);
  return (
    <div class="code">
      <TextField
        {...field}
        rows={10}
        error={fault === undefined ? error : t('tool.notJson', fault)}
      />
    </div>
  );
}

function RequestFields({ form }: Fields) {
  const names = argumentNames(form.values.parameters);
  const places = names.map((name) => `{${name}}`).join(', ');
  return (
    <>
      <SelectField
        {...form.field('method', 'tool.method')}
        options={METHODS.map((method) => [method, method])}
      />
      <TextField
        hint={t('tool.urlHint', { places: places || '–' })}
        {...form.field('url', 'field.url')}
      />
      <HeaderRows
        rows={form.values.headers}
        wrong={form.wrong}
        onRows={(headers) => form.change({ headers })}
      />
    </>
  );
}

function AnswerFields({ form }: Fields) {
  return (
    <>
      <div class="pair">
        <TextField type="number" {...form.field('timeoutMs', 'tool.timeoutMs')} />
        <TextField {...form.field('resultPath', 'tool.resultPath', 'tool.resultPathHint')} />
      </div>
      <TextField
        {...form.field('sayWhileWaiting', 'tool.sayWhileWaiting', 'tool.sayWhileWaitingHint')}
      />
    </>
  );
}
