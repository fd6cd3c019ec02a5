/** The menu at the foot of the sidebar: account, theme, language, settings, and the way out. */
import * as menu from '@zag-js/menu';
import { normalizeProps, useMachine } from '@zag-js/preact';
import { ChevronsUpDown, LogOut, Settings, UserRound } from 'lucide';
import { useId } from 'preact/hooks';
import {
  accountId,
  client,
  complain,
  environment,
  language,
  look,
  session,
  THEMES,
  t,
  theme,
  word,
} from '../app-state.ts';
import { LANGUAGES } from '../text/text.ts';
import { chooseLanguage, chooseTheme, LANGUAGE_NAMES } from './appearance.ts';
import { Icon } from './icon.tsx';

interface Choice {
  readonly value: string;
  readonly text: string;
  readonly lang?: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

export function UserMenu() {
  const service = useMachine(menu.machine, {
    id: useId(),
    positioning: { placement: 'top-start', sameWidth: true },
    onSelect: ({ value }) => act(value),
  });
  const api = menu.connect(service, normalizeProps);
  const accounts = session.value?.accounts ?? [];
  const account = accounts.find(({ id }) => id === accountId.value);
  return (
    <>
      <button class="user" {...api.getTriggerProps()}>
        <Icon of={UserRound} />
        <span class="user-name">{account?.name}</span>
        <span class="unseen">{t('user.menu')}</span>
        <Icon of={ChevronsUpDown} />
      </button>
      <div {...api.getPositionerProps()}>
        <div class="menu" {...api.getContentProps()}>
          <p class="menu-label">{userText()}</p>
          {accounts.length > 1 && <Choices api={api} name="account" choices={accountChoices()} />}
          <Choices api={api} name="theme" choices={themeChoices()} />
          <Choices api={api} name="language" choices={languageChoices()} />
          <hr />
          <div class="menu-item" {...api.getItemProps({ value: 'settings' })}>
            <Icon of={Settings} />
            {t('nav.settings')}
          </div>
          <div class="menu-item" {...api.getItemProps({ value: 'signOut' })}>
            <Icon of={LogOut} />
            {t('app.signOut')}
          </div>
        </div>
      </div>
    </>
  );
}

/** Who is signed in, and as what. */
function userText(): string {
  const user = session.value?.user;
  return user === undefined ? '' : `${user.name} (${word('role', user.role)})`;
}

function act(value: string): void {
  if (value === 'settings') location.assign('#/settings');
  if (value === 'signOut') client.logout().catch(complain);
}

function Choices(props: {
  readonly api: menu.Api;
  readonly name: 'account' | 'theme' | 'language';
  readonly choices: readonly Choice[];
}) {
  const { api, name, choices } = props;
  return (
    <div class="menu-group" {...api.getItemGroupProps({ id: name })}>
      <div class="menu-label" {...api.getItemGroupLabelProps({ htmlFor: name })}>
        {t(name === 'theme' ? 'app.theme' : `field.${name}`)}
      </div>
      {choices.map(({ value, text, lang, isChosen, choose }) => (
        <div
          key={value}
          class="menu-item"
          lang={lang}
          {...api.getOptionItemProps({
            type: 'radio',
            value: `${name}.${value}`,
            checked: isChosen,
            onCheckedChange: choose,
          })}
        >
          <span class="menu-mark" aria-hidden="true">
            {isChosen ? '✓' : ''}
          </span>
          {text}
        </div>
      ))}
    </div>
  );
}

function accountChoices(): readonly Choice[] {
  return (session.value?.accounts ?? []).map(({ id, name }) => ({
    value: id,
    text: name,
    isChosen: id === accountId.value,
    choose: () => look(environment.value, id),
  }));
}

function themeChoices(): readonly Choice[] {
  return THEMES.map((name) => ({
    value: name,
    text: t(`theme.${name}`),
    isChosen: name === theme.value,
    choose: () => chooseTheme(name),
  }));
}

function languageChoices(): readonly Choice[] {
  return LANGUAGES.map((name) => ({
    value: name,
    text: LANGUAGE_NAMES[name],
    lang: name,
    isChosen: name === language.value,
    choose: () => chooseLanguage(name),
  }));
}
