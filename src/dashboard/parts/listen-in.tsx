/** Listening in on a call that goes on, after a word about the law. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { client, complain, t } from '../app-state.ts';
import { listenIn } from '../listening.ts';
import { Dialog } from './dialog.tsx';

type State = 'off' | 'asked' | 'connecting' | 'heard';

export function ListenIn({ callId }: { readonly callId: string }) {
  const [state, setState] = useState<State>('off');
  const stopped = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stopped.current?.abort(), []);
  const stop = () => {
    stopped.current?.abort();
    setState('off');
  };
  const start = () => {
    const own = new AbortController();
    stopped.current = own;
    setState('connecting');
    const listener = {
      onHeard: () => {
        if (!own.signal.aborted) setState('heard');
      },
    };
    listenIn(client, callId, listener, own.signal)
      .catch(complain)
      .finally(() => {
        if (!own.signal.aborted) setState('off');
      });
  };
  if (state === 'connecting' || state === 'heard') {
    return (
      <>
        <button type="button" class="danger" onClick={stop}>
          {t('listen.stop')}
        </button>
        <span class="state state-busy" role="status">
          {t(state === 'heard' ? 'listen.heard' : 'listen.connecting')}
        </span>
      </>
    );
  }
  return (
    <>
      <button type="button" onClick={() => setState('asked')}>
        {t('listen.title')}
      </button>
      {state === 'asked' ? <Consent onStart={start} onClose={() => setState('off')} /> : null}
    </>
  );
}

function Consent(props: { readonly onStart: () => void; readonly onClose: () => void }) {
  return (
    <Dialog title={t('listen.title')} onClose={props.onClose}>
      <p>{t('listen.consent')}</p>
      <div class="actions">
        <button type="button" onClick={props.onClose}>
          {t('app.cancel')}
        </button>
        <button type="button" class="main" onClick={props.onStart}>
          {t('listen.start')}
        </button>
      </div>
    </Dialog>
  );
}
