/** Parts of forms about requests that the server makes: their headers, how one went, and the setting that allows a refused address. */

import { formats, sentence, t } from '../app-state.ts';
import { RowsField } from '../parts/form.tsx';

import { type HeaderRow, NEW_HEADER } from './tool-draft.ts';

/** The server's limit. */
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

/** Errors of the server about addresses that a setting may allow. */
const REFUSALS = /WEBHOOK_ALLOW|expected https|this machine/;

/** @param props.error an error, or the server's text of one; nothing is shown for errors about something else. */
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

/** Result of a trial request: success, duration, and problem. */
export function TrialResult(props: {
  readonly isGood: boolean;
  readonly tookMs: number;
  readonly problem: string | null;
}) {
  const { isGood, tookMs, problem } = props;
  return (
    <>
      <p>
        <span class={`state ${isGood ? 'good' : 'bad'}`}>
          {t(isGood ? 'tool.worked' : 'tool.failed', { ms: formats.value.count(tookMs) })}
        </span>
      </p>
      {problem !== null && <p class="wrong">{sentence(problem)}</p>}
      <AddressHelp error={problem} />
    </>
  );
}
