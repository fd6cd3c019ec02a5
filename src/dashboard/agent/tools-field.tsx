/** What an agent may use: the built-in tools, those that the account has made, those of MCP servers, and what they need. */
import type { HttpTool, McpServer, Paged } from '../api-types.ts';
import { t, word } from '../app-state.ts';
import { SelectField } from '../parts/field.tsx';
import { useApi } from '../parts/use-load.ts';
import { TOOLS } from './agent-draft.ts';

const QUERY = { limit: '100' };

interface ToolRow {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** Where it is changed. */
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
export function NameField(props: {
  readonly label: string;
  /** Where the API lists them. */
  readonly path: string;
  /** Text of the choice without a name. */
  readonly none: string;
  readonly error: string | undefined;
  readonly value: string;
  readonly onValue: (value: string) => void;
}) {
  const { value, path, none } = props;
  const { value: page } = useApi<Paged<{ readonly name: string }>>(path, QUERY);
  const names = page?.data.map(({ name }) => name) ?? [];
  const known = [...new Set([...names, ...(value === '' ? [] : [value])])];
  const options = known.map((name) => [name, name] as const);
  return <SelectField {...props} options={[['', none], ...options]} />;
}
