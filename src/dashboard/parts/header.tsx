/** The bar at the top: pages, account, environment, how it looks, and the way out. */
import {
  accountId,
  client,
  complain,
  environment,
  look,
  route,
  session,
  THEMES,
  t,
  theme,
} from '../app-state.ts';
import { BROWSER, keep } from '../kept.ts';
import type { TextKey } from '../text/text.ts';
import { BareSelect, LanguageSelect } from './field.tsx';
import { Button } from './page.tsx';

const LINKS: readonly (readonly [page: string, text: TextKey])[] = [
  ['live', 'nav.live'],
  ['calls', 'field.calls'],
  ['agents', 'nav.agents'],
  ['numbers', 'field.numbers'],
  ['trunks', 'nav.trunks'],
  ['analytics', 'nav.analytics'],
  ['webhooks', 'nav.webhooks'],
  ['keys', 'keys.list'],
  ['settings', 'nav.settings'],
  ['system', 'nav.system'],
];

export function Header() {
  const here = route.value.page;
  return (
    <header class={`top top-${environment.value}`}>
      <div class="top-row row">
        <a class="brand" href="#/calls">
          Offhook
        </a>
        <div class="top-tools row">
          <AccountSelect />
          <EnvironmentSwitch />
          <ThemeSelect />
          <LanguageSelect />
          <Button
            class="quiet"
            text={t('app.signOut')}
            onClick={() => client.logout().catch(complain)}
          />
        </div>
      </div>
      <nav aria-label={t('app.pages')}>
        <ul>
          {LINKS.map(([page, text]) => (
            <li key={page}>
              <a href={`#/${page}`} aria-current={page === here ? 'page' : undefined}>
                {t(text)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

function AccountSelect() {
  const accounts = session.value?.accounts ?? [];
  if (accounts.length < 2) return <span class="account">{accounts[0]?.name}</span>;
  return (
    <BareSelect
      label={t('field.account')}
      value={accountId.value}
      options={accounts.map(({ id, name }) => [id, name])}
      onValue={(id) => look(environment.value, id)}
    />
  );
}

function EnvironmentSwitch() {
  return (
    <fieldset class="switch">
      <legend class="unseen">{t('app.environment')}</legend>
      {(['live', 'test'] as const).map((name) => (
        <label key={name} class={`switch-${name}`}>
          <input
            type="radio"
            name="environment"
            value={name}
            checked={environment.value === name}
            onChange={() => look(name)}
          />
          <span>{t(`environment.${name}`)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function ThemeSelect() {
  return (
    <BareSelect
      label={t('app.theme')}
      value={theme.value}
      options={THEMES.map((name) => [name, t(`theme.${name}`)])}
      onValue={(name) => {
        theme.value = name;
        keep(BROWSER, 'theme', name);
      }}
    />
  );
}
