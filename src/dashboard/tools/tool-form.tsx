/** The editor of an HTTP tool: what the model is told of it, and the request that it makes. */
import type { HttpTool } from '../api-types.ts';
import { say, t } from '../app-state.ts';
import { BroughtBack } from '../forms/kept-form.tsx';
import { FormConflict, type ResourceFormState, useResourceForm } from '../forms/resource-form.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState } from '../parts/form.tsx';
import { AddressHelp, HeaderRows } from './http-request.tsx';
import {
  argumentNames,
  bodyOf,
  changesOf,
  draftOf,
  headersText,
  jsonFault,
  METHODS,
  NEW_TOOL,
  type ToolDraft,
  withoutSecrets,
} from './tool-draft.ts';

const TOOLS = 'api/tools';

/** @param props.tool undefined where one is made. */
export function useToolForm(props: {
  readonly tool: HttpTool | undefined;
  readonly onSaved: (tool: HttpTool) => void;
}) {
  return useResourceForm<ToolDraft, HttpTool>({
    list: TOOLS,
    resource: props.tool,
    blank: () => NEW_TOOL,
    draftOf,
    bodyOf: (draft) => bodyOf(readable(draft)),
    changesOf: (draft, begun) => changesOf(readable(draft), begun),
    withoutSecrets,
    onSaved: (saved) => {
      say(t('tool.saved'));
      props.onSaved(saved);
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
        {isNew && (
          <TextField label={t('field.name')} hint={t('tool.nameHint')} {...form.field('name')} />
        )}
        <TextField
          label={t('field.description')}
          hint={t('tool.descriptionHint')}
          rows={2}
          {...form.field('description')}
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
  const { value, error, onValue } = form.field('parameters');
  const fault = jsonFault(value);
  return (
    <div class="code">
      <TextField
        label={t('tool.parameters')}
        hint={t('tool.parametersHint')}
        rows={10}
        value={value}
        error={fault === undefined ? error : t('tool.notJson', fault)}
        onValue={onValue}
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
        label={t('tool.method')}
        {...form.field('method')}
        options={METHODS.map((method) => [method, method])}
      />
      <TextField
        label={t('field.url')}
        hint={t('tool.urlHint', { places: places || '–' })}
        {...form.field('url')}
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
        <TextField label={t('tool.timeoutMs')} type="number" {...form.field('timeoutMs')} />
        <TextField
          label={t('tool.resultPath')}
          hint={t('tool.resultPathHint')}
          {...form.field('resultPath')}
        />
      </div>
      <TextField
        label={t('tool.sayWhileWaiting')}
        hint={t('tool.sayWhileWaitingHint')}
        {...form.field('sayWhileWaiting')}
      />
    </>
  );
}
