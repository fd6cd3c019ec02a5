/** Tells which setting of the server allows an address that it has refused. */
import { t } from '../app-state.ts';

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
