/** The pages: their places in the sidebar and the palette, and their code, which is loaded when a page is opened first. */
import {
  BookText,
  Bot,
  Boxes,
  CalendarDays,
  ChartColumn,
  Hash,
  KeyRound,
  LayoutDashboard,
  List,
  Logs,
  Megaphone,
  MessageSquare,
  PhoneCall,
  Route,
  ScrollText,
  ServerCog,
  Settings,
  UsersRound,
  Webhook,
  Wrench,
} from 'lucide';
import type { ComponentType } from 'preact';
import type { Role } from '../api-types.ts';
import type { PageName } from '../router.ts';
import type { TextKey } from '../text/text.ts';
import type { IconShape } from './icon.tsx';

export interface NavigationEntry {
  readonly page: PageName;
  readonly text: TextKey;
  readonly icon: IconShape;
  /** Role that the page needs; a viewer's unless given. */
  readonly needs?: Role;
}

interface NavigationGroup {
  readonly text: TextKey;
  readonly entries: readonly NavigationEntry[];
}

export const NAVIGATION: readonly NavigationGroup[] = [
  {
    text: 'group.monitor',
    entries: [
      { page: 'overview', text: 'nav.overview', icon: LayoutDashboard },
      { page: 'live', text: 'nav.live', icon: PhoneCall },
      { page: 'calls', text: 'field.calls', icon: List },
      { page: 'campaigns', text: 'nav.campaigns', icon: Megaphone },
      { page: 'analytics', text: 'nav.analytics', icon: ChartColumn },
    ],
  },
  {
    text: 'group.build',
    entries: [
      { page: 'agents', text: 'nav.agents', icon: Bot },
      { page: 'tools', text: 'nav.tools', icon: Wrench },
      { page: 'knowledge', text: 'nav.knowledge', icon: BookText },
      { page: 'calendars', text: 'nav.calendars', icon: CalendarDays },
      { page: 'gateways', text: 'nav.gateways', icon: MessageSquare },
      { page: 'numbers', text: 'field.numbers', icon: Hash },
      { page: 'trunks', text: 'nav.trunks', icon: Route },
    ],
  },
  {
    text: 'group.develop',
    entries: [
      { page: 'webhooks', text: 'nav.webhooks', icon: Webhook },
      { page: 'keys', text: 'keys.title', icon: KeyRound },
      { page: 'logs', text: 'nav.logs', icon: Logs, needs: 'editor' },
    ],
  },
  {
    text: 'group.server',
    entries: [
      { page: 'system', text: 'nav.system', icon: ServerCog },
      { page: 'models', text: 'nav.models', icon: Boxes, needs: 'admin' },
      { page: 'settings', text: 'nav.settings', icon: Settings },
      { page: 'users', text: 'nav.users', icon: UsersRound, needs: 'admin' },
      { page: 'audit-log', text: 'nav.auditLog', icon: ScrollText, needs: 'admin' },
    ],
  },
];

/** Relative, as the server may lie below any path of a proxy. */
export const DOCS_ADDRESS = 'docs';

type PageComponent = ComponentType<{ readonly id: string }>;

type Load = () => Promise<PageComponent>;

const PAGES: Readonly<Record<string, Load>> = {
  overview: async () => (await import('../pages/overview-page.tsx')).OverviewPage,
  live: async () => (await import('../pages/live-page.tsx')).LivePage,
  calls: async () => (await import('../pages/calls-page.tsx')).CallsPage,
  campaigns: async () => (await import('../pages/campaigns-page.tsx')).CampaignsPage,
  agents: async () => (await import('../pages/agents-page.tsx')).AgentsPage,
  tools: async () => (await import('../pages/tools-page.tsx')).ToolsPage,
  knowledge: async () => (await import('../agent/knowledge.tsx')).KnowledgePage,
  calendars: async () => (await import('../pages/calendars-page.tsx')).CalendarsPage,
  gateways: async () => (await import('../pages/gateways-page.tsx')).GatewaysPage,
  numbers: async () => (await import('../pages/numbers-page.tsx')).NumbersPage,
  trunks: async () => (await import('../pages/trunks-page.tsx')).TrunksPage,
  analytics: async () => (await import('../pages/analytics-page.tsx')).AnalyticsPage,
  webhooks: async () => (await import('../pages/develop/webhooks-page.tsx')).WebhooksPage,
  keys: async () => (await import('../pages/develop/keys-page.tsx')).KeysPage,
  logs: async () => (await import('../pages/develop/logs-page.tsx')).LogsPage,
  settings: async () => (await import('../pages/server/settings-page.tsx')).SettingsPage,
  system: async () => (await import('../pages/server/system-page.tsx')).SystemPage,
  models: async () => (await import('../pages/server/models-page.tsx')).ModelsPage,
  users: async () => (await import('../pages/server/users-page.tsx')).UsersPage,
  'audit-log': async () => (await import('../pages/server/audit-log-page.tsx')).AuditLogPage,
  missing: async () => (await import('../pages/not-found-page.tsx')).NotFoundPage,
};

/** Pages of one thing, by the page of its list. */
const DETAIL_PAGES: Readonly<Record<string, Load>> = {
  calls: async () => (await import('../pages/call-page.tsx')).CallPage,
  campaigns: async () => (await import('../pages/campaigns-page.tsx')).CampaignPage,
  agents: async () => (await import('../pages/agents-page.tsx')).AgentPage,
  tools: async () => (await import('../pages/tools-page.tsx')).ToolPage,
  calendars: async () => (await import('../pages/calendars-page.tsx')).CalendarPage,
  trunks: async () => (await import('../pages/trunks-page.tsx')).TrunkPage,
};

/** @throws {TypeError} when the server has a newer page, or does not answer. */
export function loadPage(page: string, id: string): Promise<PageComponent> {
  const load = (id === '' ? PAGES[page] : (DETAIL_PAGES[page] ?? PAGES[page])) ?? PAGES.overview;
  if (load === undefined) throw new TypeError(`No page is named "${page}"`);
  return load();
}
