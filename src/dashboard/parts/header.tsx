/** The bar at the top: pages, account, environment, how it looks, and the way out. */
import {
  accountId,
  client,
  complain,
  environment,
  keep,
  look,
  route,
  session,
  THEMES,
  type Theme,
  t,
  theme,
} from '../app-state.ts';
import type { TextKey } from '../text/text.ts';
import { LanguageSelect } from './field.tsx';

const LINKS: readonly (readonly [page: string, text: TextKey])[] = [
  ['live', 'nav.live'],
  ['calls', 'nav.calls'],
  ['agents', 'nav.agents'],
  ['numbers', 'nav.numbers'],
  ['trunks', 'nav.trunks'],
  ['analytics', 'nav.analytics'],
  ['webhooks', 'nav.webhooks'],
  ['keys', 'nav.keys'],
  ['settings', 'nav.settings'],
  ['system', 'nav.system'],
];

export function Header() {
  const here = route.value.page;
  return (
    <header class={`top top-${environment.value}`}>
      <div class="top-row">
        <a class="brand" href="#/calls">
          Offhook
        </a>
        <div class="top-tools">
          <AccountSelect />
          <EnvironmentSwitch />
          <ThemeSelect />
          <LanguageSelect />
          <button type="button" class="quiet" onClick={() => client.logout().catch(complain)}>
            {t('app.signOut')}
          </button>
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
    <select
      aria-label={t('app.account')}
      value={accountId.value}
      onChange={(event) => look(environment.value, event.currentTarget.value)}
    >
      {accounts.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
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
    <select
      aria-label={t('app.theme')}
      value={theme.value}
      onChange={(event) => {
        theme.value = event.currentTarget.value as Theme;
        keep('theme', theme.value);
      }}
    >
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {t(`theme.${name}`)}
        </option>
      ))}
    </select>
  );
}
