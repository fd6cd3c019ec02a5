/** The frame of every page: user, navigation, messages, and signing in again. */
import { useQuery } from '@tanstack/preact-query';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import {
  accountId,
  client,
  complain,
  environment,
  isPlacingCall,
  isSessionOver,
  message,
  queries,
  route,
  session,
  t,
} from './app-state.ts';
import { loadPage } from './frame/navigation.ts';
import type { PaletteProps } from './frame/palette.tsx';
import { Sidebar } from './frame/sidebar.tsx';
import { AccessPage, Login } from './pages/access-page.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Button, Loading, Shown } from './parts/page.tsx';
import { useLoad } from './parts/use-load.ts';

export function App() {
  if (session.value === null) return <p class="starting">{t('app.starting')}</p>;
  if (session.value === undefined) return <AccessPage />;
  return <SignedIn />;
}

function SignedIn() {
  const { open, palette } = usePalette();
  const placeCall = usePlaceCall();
  return (
    <div class="frame">
      <Sidebar onSearch={open} />
      <main id="content" tabIndex={-1}>
        {environment.value === 'test' && <p class="test-bar">{t('app.testData')}</p>}
        <PageShown />
      </main>
      {palette}
      {placeCall}
      <SessionOver />
      <Messages />
    </div>
  );
}

function PageShown() {
  const { page, id } = route.value;
  const isDetail = id !== '';
  const { data: Page, error } = useQuery(
    {
      queryKey: ['page', page, isDetail],
      queryFn: () => loadPage(page, id),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: Number.POSITIVE_INFINITY,
    },
    queries,
  );
  if (error !== null) return <NotLoaded />;
  if (Page === undefined) return <Loading />;
  const userId = session.value?.user.id;
  return <Page key={`${userId} ${accountId.value} ${environment.value} ${page} ${id}`} id={id} />;
}

/** Shown after an update of the server, which gives its pages other files, and while it does not answer. */
function NotLoaded() {
  return (
    <div class="box bad" role="alert">
      <p>{t('app.pageNotLoaded')}</p>
      <Button text={t('app.reloadPage')} onClick={() => location.reload()} />
    </div>
  );
}

/** The command palette: Ctrl-K or Cmd-K. Its code is loaded when it is opened first. */
function usePalette() {
  const [isOpen, setOpen] = useState(false);
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | undefined>(undefined);
  const open = () => {
    import('./frame/palette.tsx').then(
      (loaded) => {
        setPalette(() => loaded.Palette);
        setOpen(true);
      },
      () => complain(new Error(t('app.pageNotLoaded'))),
    );
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) open();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const palette = isOpen && Palette !== undefined && <Palette onClose={() => setOpen(false)} />;
  return { open, palette };
}

/** The window to place a call; its code is loaded when it is opened first. */
function usePlaceCall() {
  const isOpen = isPlacingCall.value;
  const [PlaceCall, setPlaceCall] = useState<ComponentType | undefined>(undefined);
  useEffect(() => {
    if (!isOpen || PlaceCall !== undefined) return;
    import('./parts/place-call.tsx').then(
      (loaded) => setPlaceCall(() => loaded.PlaceCall),
      () => {
        isPlacingCall.value = false;
        complain(new Error(t('app.pageNotLoaded')));
      },
    );
  }, [isOpen]);
  return isOpen && PlaceCall !== undefined && <PlaceCall />;
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

/** Sign-in over the page once the session is over; nothing before. */
function SessionOver() {
  return isSessionOver.value ? <SignInAgain /> : null;
}

/** The dialog opens again when it is closed: nothing on the page works without a session. */
function SignInAgain() {
  const [round, setRound] = useState(0);
  const loaded = useLoad(['state'], () => client.state(), { isKept: false });
  return (
    <Dialog key={round} title={t('session.over')} onClose={() => setRound((before) => before + 1)}>
      <p>{t('session.kept')}</p>
      <Shown loaded={loaded}>{({ asksName }) => <Login asksName={asksName} />}</Shown>
    </Dialog>
  );
}
