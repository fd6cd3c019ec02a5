/** The pages that the sidebar and the command palette lead to. A page more is a line here, and one in `page-modules.ts`. */
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

export interface NavigationGroup {
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
