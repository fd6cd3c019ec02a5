/** The frame round every page: who is signed in, where one can go, and what has just happened. */
import type { ComponentType } from 'preact';
import { accountId, environment, message, route, session, t } from './app-state.ts';
import { AccessPage } from './pages/access-page.tsx';
import { AgentPage } from './pages/agent-page.tsx';
import { AgentsPage } from './pages/agents-page.tsx';
import { AnalyticsPage } from './pages/analytics-page.tsx';
import { CallPage } from './pages/call-page.tsx';
import { CallsPage } from './pages/calls-page.tsx';
import { KeysPage } from './pages/keys-page.tsx';
import { LivePage } from './pages/live-page.tsx';
import { NumbersPage } from './pages/numbers-page.tsx';
import { SettingsPage } from './pages/settings-page.tsx';
import { SystemPage } from './pages/system-page.tsx';
import { TrunksPage } from './pages/trunks-page.tsx';
import { WebhooksPage } from './pages/webhooks-page.tsx';
import { Header } from './parts/header.tsx';
import { Button } from './parts/page.tsx';
import type { Route } from './router.ts';

const PAGES: Readonly<Record<string, ComponentType<{ readonly id: string }>>> = {
  live: LivePage,
  calls: CallsPage,
  agents: AgentsPage,
  numbers: NumbersPage,
  trunks: TrunksPage,
  analytics: AnalyticsPage,
  webhooks: WebhooksPage,
  keys: KeysPage,
  settings: SettingsPage,
  system: SystemPage,
};

const DETAIL_PAGES: Readonly<Record<string, ComponentType<{ readonly id: string }>>> = {
  calls: CallPage,
  agents: AgentPage,
};

function pageOf({ page, id }: Route): ComponentType<{ readonly id: string }> {
  return (id === '' ? PAGES[page] : (DETAIL_PAGES[page] ?? PAGES[page])) ?? CallsPage;
}

export function App() {
  if (session.value === null) return <p class="starting">{t('app.starting')}</p>;
  if (session.value === undefined) return <AccessPage />;
  const { page, id } = route.value;
  const Page = pageOf(route.value);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector('main')?.focus()}>
        {t('app.skip')}
      </button>
      <Header />
      <main id="content" tabIndex={-1}>
        <Page key={`${accountId.value} ${environment.value} ${page} ${id}`} id={id} />
      </main>
      <Messages />
    </>
  );
}

/** Is there from the beginning, because a live region that comes with its text is not read out. */
function Messages() {
  const now = message.value;
  return (
    <div class="messages" role="status" aria-live="polite">
      {now !== undefined && (
        <p class={now.isError ? 'message message-bad' : 'message'}>
          <span>{now.text}</span>
          <Button
            class="quiet"
            text="×"
            aria-label={t('app.close')}
            onClick={() => {
              message.value = undefined;
            }}
          />
        </p>
      )}
    </div>
  );
}
