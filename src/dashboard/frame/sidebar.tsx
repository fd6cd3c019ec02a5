/** The sidebar: pages in groups, the environment, and the account. Below 900 px it is a drawer behind a button. */
import { BookOpen, Menu, Search, X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { environment, look, may, route, t } from '../app-state.ts';
import mark from '../icon.svg';
import { Icon } from './icon.tsx';
import { DOCS_ADDRESS, NAVIGATION, type NavigationEntry } from './navigation.ts';
import { UserMenu } from './user-menu.tsx';

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
