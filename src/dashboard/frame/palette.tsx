/** The command palette: its search for pages, actions, agents and calls, and its window. */
import * as listbox from '@zag-js/listbox';
import { normalizeProps, useMachine } from '@zag-js/preact';
import {
  BookOpen,
  Bot,
  FlaskConical,
  LogOut,
  Moon,
  PhoneCall,
  PhoneOutgoing,
  Plus,
  Search,
  Sun,
} from 'lucide';
import { useId, useState } from 'preact/hooks';
import type { AgentItem } from '../api-types.ts';
import {
  chooseTheme,
  client,
  complain,
  environment,
  isPlacingCall,
  look,
  may,
  t,
} from '../app-state.ts';
import { addressOf } from '../format.ts';
import { useModal } from '../parts/dialog.tsx';
import { useAgents } from '../parts/use-load.ts';
import { Icon, type IconShape } from './icon.tsx';
import { DOCS_ADDRESS, NAVIGATION } from './navigation.ts';

export interface PaletteProps {
  readonly onClose: () => void;
}

export function Palette({ onClose }: PaletteProps) {
  const element = useModal();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by keyboard.
    <dialog
      ref={element}
      class="palette"
      aria-label={t('palette.open')}
      onClose={onClose}
      // The list inside would take Escape for itself.
      onKeyDownCapture={(event) => {
        if (event.key === 'Escape') onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <Commands onClose={onClose} />
    </dialog>
  );
}

function Commands({ onClose }: PaletteProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const agents = useAgents();
  const found = commandsFor(text, agents.list);
  const service = useMachine(listbox.machine, {
    id: useId(),
    collection: listbox.collection({ items: found, itemToValue: ({ id }) => id }),
    highlightedValue: chosen ?? found[0]?.id ?? null,
    onHighlightChange: ({ highlightedValue }) => setChosen(highlightedValue),
    onSelect: ({ value }) => {
      onClose();
      found.find(({ id }) => id === value)?.run();
    },
  });
  const api = listbox.connect(service, normalizeProps);
  return (
    <div {...api.getRootProps()}>
      <span class="unseen" {...api.getLabelProps()}>
        {t('palette.open')}
      </span>
      <input
        {...api.getInputProps()}
        type="text"
        role="combobox"
        aria-expanded={found.length > 0}
        class="palette-input"
        aria-label={t('palette.open')}
        placeholder={t('palette.placeholder')}
        autofocus
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(null);
        }}
      />
      <div class="palette-list" {...api.getContentProps()}>
        {GROUPS.map((group) => {
          const commands = found.filter((command) => command.group === group);
          if (commands.length === 0) return null;
          return (
            <div key={group} {...api.getItemGroupProps({ id: group })}>
              <p class="menu-label" {...api.getItemGroupLabelProps({ htmlFor: group })}>
                {t(`palette.${group}`)}
              </p>
              {commands.map((command) => (
                <div
                  key={command.id}
                  class="menu-item"
                  {...api.getItemProps({ item: command, highlightOnHover: true })}
                >
                  <Icon of={command.icon} />
                  {command.text}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {found.length === 0 && (
        <p class="palette-none" role="status">
          {t('palette.none')}
        </p>
      )}
    </div>
  );
}

/** In the order in which they are shown. */
export const GROUPS = ['calls', 'pages', 'actions', 'agents'] as const;

export interface Command {
  readonly id: string;
  readonly group: (typeof GROUPS)[number];
  readonly text: string;
  readonly icon: IconShape;
  readonly run: () => void;
}

const AGENTS_SHOWN = 8;

/** @param text of the search; each of its words has to be in the command's own text. */
export function commandsFor(text: string, agents: readonly AgentItem[]): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/);
  const isFound = (command: Command) =>
    words.every((word) => command.text.toLowerCase().includes(word));
  return [
    ...callCommands(text.trim()),
    ...[...pageCommands(), ...actionCommands()].filter(isFound),
    ...agents.map(agentCommand).filter(isFound).slice(0, AGENTS_SHOWN),
  ];
}

function callCommands(text: string): readonly Command[] {
  const base = { id: 'call', group: 'calls' } as const;
  if (/^call_\w+$/.test(text)) {
    return [{ ...base, ...goTo(t('palette.call', { id: text }), `#/calls/${text}`, PhoneCall) }];
  }
  if (!/^\+?[\d\s()./-]{3,}$/.test(text)) return [];
  const number = text.replace(/[^+\d]/g, '');
  const address = addressOf({ fields: { q: number }, offset: 0 });
  return [{ ...base, ...goTo(t('palette.search', { text }), address, Search) }];
}

function pageCommands(): readonly Command[] {
  const entries = NAVIGATION.flatMap((group) => group.entries);
  const pages = entries
    .filter(({ needs = 'viewer' }) => may(needs))
    .map(({ page, text, icon }) => ({
      id: `page.${page}`,
      group: 'pages' as const,
      ...goTo(t(text), `#/${page}`, icon),
    }));
  const docs = { id: 'docs', group: 'pages' as const };
  return [...pages, { ...docs, ...goTo(t('nav.docs'), DOCS_ADDRESS, BookOpen) }];
}

function actionCommands(): readonly Command[] {
  const other = environment.value === 'live' ? 'test' : 'live';
  const actions = [
    ...(may('editor') ? changingActions() : []),
    {
      text: t('palette.environment', { environment: t(`environment.${other}`) }),
      icon: FlaskConical,
      run: () => look(other),
    },
    { text: t('palette.light'), icon: Sun, run: () => chooseTheme('light') },
    { text: t('palette.dark'), icon: Moon, run: () => chooseTheme('dark') },
    { text: t('app.signOut'), icon: LogOut, run: () => client.logout().catch(complain) },
  ];
  return actions.map((action, index) => ({ id: `action.${index}`, group: 'actions', ...action }));
}

/** Actions that need the role of an editor. */
function changingActions() {
  const placeCall = () => {
    isPlacingCall.value = true;
  };
  return [
    { text: t('placeCall.title'), icon: PhoneOutgoing, run: placeCall },
    goTo(t('campaigns.new'), '#/campaigns/new', Plus),
    goTo(t('agents.new'), '#/agents/new', Plus),
  ];
}

function agentCommand({ id, name }: AgentItem): Command {
  return { id, group: 'agents', ...goTo(name, `#/agents/${id}`, Bot) };
}

function goTo(text: string, address: string, icon: IconShape) {
  return { text, icon, run: () => location.assign(address) };
}
