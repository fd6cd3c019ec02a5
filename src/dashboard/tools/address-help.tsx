/** Tells which setting of the server allows an address that it has refused. */
import { t } from '../app-state.ts';

/** What the server says of addresses that a setting may allow. */
const REFUSALS = /WEBHOOK_ALLOW|expected https|this machine/;

/** @param props.text what the server said; nothing is shown where it is about something else. */
export function AddressHelp({ text }: { readonly text: string | undefined }) {
  if (text === undefined || !REFUSALS.test(text)) return null;
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
