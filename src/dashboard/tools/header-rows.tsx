/** Headers of the requests of a tool or an MCP server; values that are marked secret are never shown again. */
import { t } from '../app-state.ts';
import { RowsField } from '../parts/rows-field.tsx';
import { type HeaderRow, NEW_HEADER } from './tool-draft.ts';

/** As many as the server takes. */
const HEADERS_MAX = 20;

export function HeaderRows(props: {
  readonly rows: readonly HeaderRow[];
  readonly wrong: Readonly<Record<string, string>>;
  readonly onRows: (rows: readonly HeaderRow[]) => void;
}) {
  return (
    <RowsField
      {...props}
      label={t('tool.headers')}
      hint={t('tool.headersHint')}
      path="headers"
      columns={[
        { name: 'name', label: t('tool.header') },
        { name: 'value', label: t('tool.headerValue') },
        {
          name: 'kind',
          label: t('tool.headerKind'),
          options: [
            ['plain', t('tool.plain')],
            ['secret', t('tool.secret')],
          ],
        },
      ]}
      empty={NEW_HEADER}
      addText={t('tool.addHeader')}
      nameOf={({ name }) => name}
      max={HEADERS_MAX}
    />
  );
}
