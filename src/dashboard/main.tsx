/** Starts the dashboard. */
import './style/tokens.css';
import './style/base.css';
import './style/layout.css';
import './style/parts.css';
import './style/pages.css';
import './style/overview.css';
import './style/call.css';
import './style/windows.css';
import './style/agents.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app.tsx';
import {
  client,
  enter,
  environment,
  language,
  look,
  message,
  route,
  session,
  shownTheme,
} from './app-state.ts';
import { arrive, rememberScrolling, settle } from './frame/scroll-memory.ts';
import { addressIn, routeOf } from './router.ts';

effect(() => {
  document.documentElement.dataset.theme = shownTheme.value;
});

effect(() => {
  document.documentElement.lang = language.value;
});

effect(() => {
  // Read first: the effect runs again with each new route.
  const { page } = route.value;
  if (!session.value || ['setup', 'login', 'join'].includes(page)) return;
  settle(addressIn(location.hash, environment.value));
});

addEventListener('hashchange', () => {
  arrive();
  const next = routeOf(location.hash);
  if (next.environment !== undefined && next.environment !== environment.value) {
    look(next.environment);
  }
  if (next.page !== route.value.page && message.value?.isError) message.value = undefined;
  route.value = next;
});

async function start(): Promise<void> {
  const begun = await client.restore().catch(() => undefined);
  if (begun === undefined) session.value = undefined;
  else enter(begun);
}

rememberScrolling();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
void start();
