/** What an operator can do to a call that goes on. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { client, complain, message, say, t } from '../app-state.ts';
import { listenIn } from '../listening.ts';
import { ConfirmButton, Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Problem } from './page.tsx';
import { useSubmit } from './use-load.ts';

/** @param props.isAnswered a ringing call has no sound and cannot be transferred. */
export function CallControls(props: { readonly callId: string; readonly isAnswered: boolean }) {
  const { callId, isAnswered } = props;
  return (
    <>
      {isAnswered ? <ListenIn callId={callId} /> : null}
      {isAnswered ? <Transfer callId={callId} /> : null}
      <HangUp callId={callId} />
    </>
  );
}

/** Ends a call that goes on. */
function HangUp({ callId }: { readonly callId: string }) {
  return (
    <ConfirmButton
      label={t('live.hangUp')}
      question={t('live.hangUpQuestion')}
      done={t('live.hungUp')}
      onConfirm={() => client.api(`api/calls/${callId}/hangup`, { method: 'POST' })}
    />
  );
}

type State = 'off' | 'asked' | 'connecting' | 'heard';

/** Listening in on a call that goes on, after a word about the law. */
function ListenIn({ callId }: { readonly callId: string }) {
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

/** Remembered as long as the browser's window, and no longer: it is somebody's number. */
const REMEMBERED = 'offhook.transferTo';

/** Takes a call over: transfers it to the operator's number. */
function Transfer({ callId }: { readonly callId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t('transfer.title')}
      </button>
      {isOpen ? <TransferDialog callId={callId} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function TransferDialog(props: { readonly callId: string; readonly onClose: () => void }) {
  const { callId, onClose } = props;
  const [to, setTo] = useState(remembered);
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    const body = { to: to.replace(/[\s()/.-]/g, '') };
    const before = message.value;
    await client.api(`api/calls/${callId}/transfer`, { method: 'POST', body });
    remember(body.to);
    // One that failed at once was told by the live view meanwhile.
    if (message.value === before) say(t('transfer.done'));
    onClose();
  });
  return (
    <Dialog title={t('transfer.title')} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <p>{t('transfer.text')}</p>
        <TextField
          label={t('transfer.to')}
          hint={t('transfer.hint')}
          type="tel"
          value={to}
          onValue={setTo}
          error={wrong.to}
        />
        {error === undefined ? null : <Problem error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {t('app.cancel')}
          </button>
          <button type="submit" class="main" disabled={isBusy}>
            {t('transfer.send')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function remembered(): string {
  try {
    return sessionStorage.getItem(REMEMBERED) ?? '';
  } catch {
    return '';
  }
}

function remember(to: string): void {
  try {
    sessionStorage.setItem(REMEMBERED, to);
  } catch {
    // Without browser storage the number is typed again.
  }
}
