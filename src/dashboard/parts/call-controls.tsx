/** What an operator can do to a call that goes on. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { client, complain, message, say, t } from '../app-state.ts';
import { keep, kept, WINDOW } from '../kept.ts';
import { listenIn } from '../listening.ts';
import { ConfirmButton, DialogButton, Question } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form, useForm } from './form.tsx';
import { Button } from './page.tsx';

/** @param props.isAnswered a ringing call has no sound and cannot be transferred. */
export function CallControls(props: { readonly callId: string; readonly isAnswered: boolean }) {
  const { callId, isAnswered } = props;
  return (
    <>
      {isAnswered && <ListenIn callId={callId} />}
      {isAnswered && (
        <DialogButton label={t('transfer.title')} class="take-over" needs="editor">
          {(close) => <TransferForm callId={callId} onClose={close} />}
        </DialogButton>
      )}
      <ConfirmButton
        needs="editor"
        class="danger hang-up"
        label={t('live.hangUp')}
        question={t('live.hangUpQuestion')}
        done={t('live.hungUp')}
        onConfirm={() => client.api(`api/calls/${callId}/hangup`, { method: 'POST' })}
      />
    </>
  );
}

type State = 'off' | 'connecting' | 'heard';

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
  if (state === 'off') {
    return (
      <DialogButton label={t('listen.title')} class="listen">
        {(close) => (
          <Question
            text={t('listen.consent')}
            yes={t('listen.start')}
            class="main"
            onNo={close}
            onYes={start}
          />
        )}
      </DialogButton>
    );
  }
  return (
    <>
      <Button class="danger listen" text={t('listen.stop')} onClick={stop} />
      <span class="state busy listen-state" role="status">
        {t(state === 'heard' ? 'listen.heard' : 'listen.connecting')}
      </span>
    </>
  );
}

/** Remembered as long as the browser's window, and no longer: it is somebody's number. */
const REMEMBERED = 'transferTo';

/** Takes a call over: transfers it to the operator's number. */
function TransferForm(props: { readonly callId: string; readonly onClose: () => void }) {
  const { callId, onClose } = props;
  const form = useForm({ to: kept(WINDOW, REMEMBERED) ?? '' }, async (typed) => {
    const body = { to: typed.to.replace(/[\s()/.-]/g, '') };
    const before = message.value;
    await client.api(`api/calls/${callId}/transfer`, { method: 'POST', body });
    keep(WINDOW, REMEMBERED, body.to);
    // One that failed at once was told by the live view meanwhile.
    if (message.value === before) say(t('transfer.done'));
    onClose();
  });
  return (
    <Form form={form} label={t('transfer.send')} onCancel={onClose}>
      <p>{t('transfer.text')}</p>
      <TextField
        label={t('transfer.to')}
        hint={t('transfer.hint')}
        type="tel"
        {...form.field('to')}
      />
    </Form>
  );
}
