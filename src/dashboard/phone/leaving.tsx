/** Leaving the phone's window: where that would end a call, it asks first. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../app-state.ts';

/**
 * Opens the window; Escape and closing ask while `isBusyNow`, and Escape at the question stays. `close` is what ends in
 * the dialog's own event, so that the focus goes back to where it was.
 */
export function useLeaving(isBusyNow: boolean) {
  const ref = useRef<HTMLDialogElement>(null);
  const [isAsked, setAsked] = useState(false);
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    ref.current?.showModal();
    focusCall(ref.current);
  }, []);
  useEffect(() => {
    if (isBusyNow) return;
    setAsked(false);
    const active = document.activeElement;
    // What had the focus may have gone with the call.
    if (!ref.current?.contains(active) || active?.matches(':disabled')) focusCall(ref.current);
  }, [isBusyNow]);
  const close = () => ref.current?.close();
  const stay = () => {
    setAsked(false);
    if (focused.current instanceof HTMLElement) focused.current.focus();
  };
  const leave = () => {
    if (!isBusyNow) return close();
    focused.current = document.activeElement;
    setAsked(true);
  };
  const onCancel = (event: Event) => {
    event.preventDefault();
    if (isAsked) stay();
    else leave();
  };
  return { ref, isAsked: isAsked && isBusyNow, stay, leave, close, onCancel };
}

function focusCall(dialog: HTMLDialogElement | null): void {
  dialog?.querySelector<HTMLElement>('.phone-call')?.focus();
}

export function LeaveQuestion(props: {
  readonly onStay: () => void;
  readonly onLeave: () => void;
}) {
  const stay = useRef<HTMLButtonElement>(null);
  useEffect(() => stay.current?.focus(), []);
  return (
    <div class="phone-question" role="alertdialog" aria-labelledby="phone-question">
      <p id="phone-question">{t('phone.leaveQuestion')}</p>
      <div class="actions">
        <button type="button" ref={stay} onClick={props.onStay}>
          {t('phone.stay')}
        </button>
        <button type="button" class="danger" onClick={props.onLeave}>
          {t('phone.leave')}
        </button>
      </div>
    </div>
  );
}
