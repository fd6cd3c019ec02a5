/** What the command palette finds for a text: pages, actions, agents, and calls by their id or number. */
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
import type { AgentItem } from '../api-types.ts';
import { client, complain, environment, isPlacingCall, look, may, t } from '../app-state.ts';
import { addressOf } from '../format.ts';
import { chooseTheme } from './appearance.ts';
import type { IconShape } from './icon.tsx';
import { DOCS_ADDRESS, NAVIGATION } from './navigation.ts';

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

/** @param text what was typed; each of its words has to be in the command's own text. */
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

/** Those of editors. */
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
