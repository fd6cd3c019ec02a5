/** The larger fields of an agent's form: prompt, tools, language model, transfer targets, pronunciations. */

import { useRef, useState } from 'preact/hooks';
import type { HttpTool, LanguageModels, McpServer, Paged } from '../api-types.ts';
import { formats, t, word } from '../app-state.ts';
import { BROWSER, keep, kept } from '../kept.ts';
import { CheckField, SelectField, TextField, type TextFieldProps } from '../parts/field.tsx';
import { RowsField } from '../parts/form.tsx';
import { useApi } from '../parts/use-load.ts';
import { type FormParts, TOOLS } from './agent-draft.ts';

/** The server's limit. */
const CHARS_MAX = 20_000;

const FIXED_WIDTH = 'prompt.fixedWidth';

export function PromptField(props: TextFieldProps) {
  const [isFixedWidth, setFixedWidth] = useState(() => kept(BROWSER, FIXED_WIDTH) === 'yes');
  const editor = useRef<HTMLDivElement>(null);
  const { count } = formats.value;
  const values = { now: count(props.value.length), max: count(CHARS_MAX) };
  return (
    <div ref={editor} class={isFixedWidth ? 'prompt prompt-fixed' : 'prompt'}>
      <TextField {...props} rows={16} isRequired />
      <div class="row prompt-foot">
        <CheckField
          label={t('agent.fixedWidth')}
          isChecked={isFixedWidth}
          onChecked={(isChosen) => {
            keep(BROWSER, FIXED_WIDTH, isChosen ? 'yes' : undefined);
            setFixedWidth(isChosen);
          }}
        />
        <span class={props.value.length > CHARS_MAX ? 'wrong' : 'hint'}>
          {t('agent.chars', values)}
        </span>
      </div>
      <p class="hint">
        {t('agent.variables')
          .split(/(\{\{.*?\}\})/)
          .map((part, index) =>
            index % 2 === 0 ? (
              part
            ) : (
              <button
                key={part}
                type="button"
                class="variable"
                title={t('agent.insert')}
                onClick={() => insertAtCursor(editor.current?.querySelector('textarea'), part)}
              >
                <code>{part}</code>
              </button>
            ),
          )}
      </p>
    </div>
  );
}

/** Writes text at the cursor of a field, as if it was typed there: undo takes it back. */
function insertAtCursor(field: HTMLTextAreaElement | null | undefined, text: string): void {
  field?.focus();
  document.execCommand('insertText', false, text);
}

const QUERY = { limit: '100' };

interface ToolRow {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** Link to the page of the tool. */
  readonly href?: string;
}

/** @param props.value names; those that are neither built in nor loaded yet are shown too, so that saving keeps them. */
export function ToolsField(props: {
  readonly label: string;
  readonly error: string | undefined;
  readonly value: readonly string[];
  readonly onValue: (value: readonly string[]) => void;
}) {
  const { label, error, value, onValue } = props;
  const { value: tools } = useApi<Paged<HttpTool>>('api/tools', QUERY);
  const { value: servers } = useApi<Paged<McpServer>>('api/mcp-servers', QUERY);
  const rows = rowsOf(tools?.data ?? [], servers?.data ?? []);
  const unknown = value.filter((name) => !rows.some((row) => row.name === name));
  const all = [...rows, ...unknown.map((name) => ({ name, label: name, hint: '' }))];
  return (
    <fieldset class="tool-rows">
      <legend>{label}</legend>
      {all.map((row) => (
        <Row
          key={row.name}
          row={row}
          isChosen={value.includes(row.name)}
          onChosen={(isChosen) =>
            onValue(isChosen ? [...value, row.name] : value.filter((name) => name !== row.name))
          }
        />
      ))}
      {error !== undefined && <p class="wrong">{error}</p>}
      <a href="#/tools">{t('agent.ownTools')}</a>
    </fieldset>
  );
}

function rowsOf(tools: readonly HttpTool[], servers: readonly McpServer[]): readonly ToolRow[] {
  return [
    ...TOOLS.map((name) => ({ name, label: word('tool', name), hint: t(`toolHint.${name}`) })),
    ...tools.map(({ name, description }) => ({
      ...{ name, label: name, hint: description },
      href: `#/tools/${name}`,
    })),
    ...servers.map(({ name, allowedTools }) => ({
      ...{ name, label: name, href: '#/tools' },
      hint: t('agent.mcpTools', { names: allowedTools.join(', ') || '–' }),
    })),
  ];
}

function Row(props: {
  readonly row: ToolRow;
  readonly isChosen: boolean;
  readonly onChosen: (isChosen: boolean) => void;
}) {
  const { row, isChosen, onChosen } = props;
  return (
    <div class="tool-row">
      <label class="check">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={({ currentTarget }) => onChosen(currentTarget.checked)}
        />
        <span>{row.label}</span>
      </label>
      <span class="hint">{row.hint}</span>
      {row.href !== undefined && (
        <a href={row.href} aria-label={t('agent.openTool', { name: row.name })}>
          {t('tool.open')}
        </a>
      )}
    </div>
  );
}

/**
 * One thing of the account by its name, such as a calendar.
 *
 * @param props.value empty for none; a name that is not loaded yet is shown too, so that saving keeps it.
 */
export function NameField(
  props: TextFieldProps & {
    /** API path that lists the names. */
    readonly path: string;
    /** Text of the choice without a name. */
    readonly none: string;
  },
) {
  const { value, path, none } = props;
  const { value: page } = useApi<Paged<{ readonly name: string }>>(path, QUERY);
  const names = page?.data.map(({ name }) => name) ?? [];
  const known = [...new Set([...names, ...(value === '' ? [] : [value])])];
  const options = known.map((name) => [name, name] as const);
  return <SelectField {...props} options={[['', none], ...options]} />;
}

/**
 * Shows nothing if the engine has no models to choose from, as with the rule book.
 *
 * @param props.value empty for the server's own; a name that is not at the model server is shown too, so that saving keeps it.
 */
export function ModelField(props: TextFieldProps) {
  const { value } = props;
  const { value: known } = useApi<LanguageModels>('api/language-models');
  if (known === undefined || known.models.length === 0) return null;
  const isMissing = value !== '' && !known.models.includes(value);
  return (
    <SelectField
      {...props}
      hint={t('agent.modelHint')}
      options={[
        ['', t('agent.ownModel', { name: known.ownModel })],
        ...known.models.map((name) => [name, name] as const),
        ...(isMissing ? [[value, t('agent.missingModel', { name: value })] as const] : []),
      ]}
    />
  );
}

/** The server's limit. */
const PRONUNCIATIONS_MAX = 100;
const TARGETS_MAX = 32;

export function TransferTargets({ draft, change, wrong }: FormParts) {
  return (
    <RowsField
      label={t('agent.transferTargets')}
      hint={t('agent.targetRowsHint')}
      path="settings.transferTargets"
      wrong={wrong}
      rows={draft.transferTargets}
      columns={[
        { name: 'label', label: t('agent.targetLabel') },
        { name: 'number', label: t('field.number'), type: 'tel' },
      ]}
      empty={{ label: '', number: '' }}
      addText={t('agent.addTarget')}
      nameOf={({ label }) => label}
      max={TARGETS_MAX}
      onRows={(transferTargets) => change({ transferTargets })}
    />
  );
}

export function Pronunciations({ draft, change, wrong }: FormParts) {
  return (
    <RowsField
      label={t('agent.pronunciations')}
      hint={t('agent.pronunciationsHint')}
      path="settings.pronunciations"
      wrong={wrong}
      rows={draft.pronunciations}
      columns={[
        { name: 'written', label: t('agent.written') },
        { name: 'spoken', label: t('agent.spoken') },
      ]}
      empty={{ written: '', spoken: '' }}
      addText={t('agent.addPronunciation')}
      nameOf={({ written }) => written}
      max={PRONUNCIATIONS_MAX}
      onRows={(pronunciations) => change({ pronunciations })}
    />
  );
}
