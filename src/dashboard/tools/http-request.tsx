/** Parts of forms about requests that the server makes: their headers, and the setting that allows a refused address. */
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

/** What the server says of addresses that a setting may allow. */
const REFUSALS = /WEBHOOK_ALLOW|expected https|this machine/;

/** @param props.error or what the server said of one; nothing is shown where it is about something else. */
export function AddressHelp({ error }: { readonly error: unknown }) {
  if (!REFUSALS.test(error instanceof Error ? error.message : String(error))) return null;
  return (
    <div class="box busy small">
      <p>{t('address.help')}</p>
      <ul>
        <li>
          <code>WEBHOOK_ALLOW_LOCAL=true</code> {t('address.local')}
        </li>
        <li>
          <code>WEBHOOK_ALLOW_PRIVATE=true</code> {t('address.private')}
        </li>
      </ul>
    </div>
  );
}
