/** The sidebar: pages in groups, the environment, and the user's menu. Below 900 px it is a drawer behind a button. */

import * as menu from '@zag-js/menu';
import { normalizeProps, useMachine } from '@zag-js/preact';
import { BookOpen, ChevronsUpDown, LogOut, Menu, Search, Settings, UserRound, X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import {
  accountId,
  chooseLanguage,
  chooseTheme,
  client,
  complain,
  environment,
  LANGUAGE_NAMES,
  language,
  look,
  may,
  route,
  session,
  THEMES,
  t,
  theme,
  word,
} from '../app-state.ts';
import mark from '../icon.svg';
import { LANGUAGES } from '../text/text.ts';
import { Icon } from './icon.tsx';
import { DOCS_ADDRESS, NAVIGATION, type NavigationEntry } from './navigation.ts';

interface SidebarProps {
  /** Opens the command palette. */
  readonly onSearch: () => void;
}

export function Sidebar({ onSearch }: SidebarProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <header class={`side side-${environment.value}`}>
      <button type="button" class="skip" onClick={() => document.querySelector('main')?.focus()}>
        {t('app.skip')}
      </button>
      <div class="side-bar">
        <button
          type="button"
          class="quiet icon-button"
          aria-label={t('app.menu')}
          aria-expanded={isOpen}
          onClick={() => setOpen(true)}
        >
          <Icon of={Menu} />
        </button>
        <Brand />
        <button
          type="button"
          class="quiet icon-button"
          aria-label={t('palette.open')}
          onClick={onSearch}
        >
          <Icon of={Search} />
        </button>
      </div>
      <div class="side-panel">
        <Content onSearch={onSearch} />
      </div>
      {isOpen && <Drawer onSearch={onSearch} onClose={() => setOpen(false)} />}
    </header>
  );
}

function Brand() {
  return (
    <a class="brand" href="#/overview">
      <img src={mark} alt="" width="26" height="26" />
      Offhook
    </a>
  );
}

/** Closes with Escape, by a press outside, and when a page is chosen. */
function Drawer({ onSearch, onClose }: SidebarProps & { readonly onClose: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  const { page, id } = route.value;
  const opened = useRef(`${page} ${id}`);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  useEffect(() => {
    if (opened.current !== `${page} ${id}`) onClose();
  }, [page, id]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape and the button close it by keyboard.
    <dialog
      ref={element}
      class="drawer"
      aria-label={t('app.menu')}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <button
        type="button"
        class="quiet icon-button drawer-close"
        aria-label={t('app.close')}
        onClick={onClose}
      >
        <Icon of={X} />
      </button>
      <Content
        onSearch={() => {
          onClose();
          onSearch();
        }}
      />
    </dialog>
  );
}

function Content({ onSearch }: SidebarProps) {
  return (
    <>
      <Brand />
      <EnvironmentSwitch />
      <button type="button" class="search-button" onClick={onSearch}>
        <Icon of={Search} />
        <span>{t('palette.open')}</span>
        <kbd>{SHORTCUT}</kbd>
      </button>
      <nav class="side-nav" aria-label={t('app.pages')}>
        {NAVIGATION.map(({ text, entries }) => (
          <Group key={text} title={t(text)} entries={entries}>
            {text === 'group.develop' && (
              <li>
                <a href={DOCS_ADDRESS}>
                  <Icon of={BookOpen} />
                  {t('nav.docs')}
                </a>
              </li>
            )}
          </Group>
        ))}
      </nav>
      <UserMenu />
    </>
  );
}

const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

function isOpenTo({ needs = 'viewer' }: NavigationEntry): boolean {
  return may(needs);
}

function Group(props: {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const here = route.value.page;
  return (
    <>
      <p class="side-group" id={id}>
        {props.title}
      </p>
      <ul aria-labelledby={id}>
        {props.entries.filter(isOpenTo).map(({ page, text, icon }) => (
          <li key={page}>
            <a href={`#/${page}`} aria-current={page === here ? 'page' : undefined}>
              <Icon of={icon} />
              {t(text)}
            </a>
          </li>
        ))}
        {props.children}
      </ul>
    </>
  );
}

function EnvironmentSwitch() {
  const name = useId();
  return (
    <fieldset class="switch">
      <legend class="unseen">{t('app.environment')}</legend>
      {(['live', 'test'] as const).map((each) => (
        <label key={each} class={`switch-${each}`}>
          <input
            type="radio"
            name={name}
            value={each}
            checked={environment.value === each}
            onChange={() => look(each)}
          />
          <span>{t(`environment.${each}`)}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface Choice {
  readonly value: string;
  readonly text: string;
  readonly lang?: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

function UserMenu() {
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

/** Name and role of the signed-in user. */
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
