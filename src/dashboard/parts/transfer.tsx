/** Takes a call over: it is transferred to the number of whoever wants to speak. */
import { useState } from 'preact/hooks';
import { client, message, say, t } from '../app-state.ts';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Problem } from './page.tsx';
import { useSubmit } from './use-submit.ts';

/** Remembered as long as the browser's window, and no longer: it is somebody's number. */
const REMEMBERED = 'offhook.transferTo';

export function Transfer({ callId }: { readonly callId: string }) {
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
    // Where the browser keeps nothing, the number is typed anew.
  }
}
