/** Asks for the password over the page when the session has ended: what was typed there stays as it is. */
import { useState } from 'preact/hooks';
import { client, isSessionOver, t } from '../app-state.ts';
import { Login } from '../pages/access-page.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Shown } from '../parts/page.tsx';
import { useLoad } from '../parts/use-load.ts';

/** Nothing while the session goes on. */
export function SessionOver() {
  return isSessionOver.value ? <SignInAgain /> : null;
}

/** Comes back when it is closed: nothing on the page works without a session. */
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
