/** The editor of an HTTP tool: what the model is told of it, and the request that it makes. */
import type { HttpTool } from '../api-types.ts';
import { client, say, t, wordsOf } from '../app-state.ts';
import { BroughtBack } from '../parts/brought-back.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState } from '../parts/form.tsx';
import { type KeptFormState, useKeptForm } from '../parts/use-kept-form.ts';
import { NEW_ID } from '../router.ts';
import { AddressHelp } from './address-help.tsx';
import { HeaderRows } from './header-rows.tsx';
import { jsonFault } from './json-fault.ts';
import {
  argumentNames,
  bodyOf,
  changesOf,
  draftOf,
  METHODS,
  NEW_TOOL,
  type ToolDraft,
  withoutSecrets,
} from './tool-draft.ts';

/** @param props.tool undefined where one is made. */
export function useToolForm(props: {
  readonly tool: HttpTool | undefined;
  readonly onSaved: (tool: HttpTool) => void;
}) {
  const { tool, onSaved } = props;
  return useKeptForm<ToolDraft>({
    path: `api/tools/${tool?.name ?? NEW_ID}`,
    fresh: () => (tool === undefined ? NEW_TOOL : draftOf(tool)),
    withoutSecrets,
    send: async (draft, begun) => {
      const fault = jsonFault(draft.parameters);
      if (fault !== undefined) throw new Error(t('tool.notJson', fault));
      const saved = await save(tool, draft, begun);
      say(t('tool.saved'));
      onSaved(saved);
      return tool === undefined ? NEW_TOOL : draftOf(saved);
    },
  });
}

/** @throws {ApiError} */
async function save(
  tool: HttpTool | undefined,
  draft: ToolDraft,
  begun: ToolDraft,
): Promise<HttpTool> {
  if (tool === undefined) {
    return await client.api('api/tools', { method: 'POST', body: bodyOf(draft) });
  }
  const body = changesOf(draft, begun);
  if (Object.keys(body).length === 0) return tool;
  return await client.api(`api/tools/${tool.name}`, { method: 'PATCH', body });
}

interface Fields {
  readonly form: FormState<ToolDraft>;
}

export function ToolForm(props: {
  readonly form: KeptFormState<ToolDraft>;
  readonly isNew: boolean;
}) {
  const { form, isNew } = props;
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t(isNew ? 'tool.create' : 'app.save')} needs="editor">
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
        <AddressHelp text={form.error === undefined ? undefined : wordsOf(form.error)} />
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
