/** Windows over the page: to confirm what cannot be undone, and to show secrets once. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { complain, say, t } from '../app-state.ts';

/** Closes with Escape too; the focus goes back to where it was. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Only a dialog that is closed gives the focus back: one that is taken away does not.
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} aria-label={props.title} onClose={props.onClose}>
      <h2>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

/** A button that asks before it does. */
export function ConfirmButton(props: {
  readonly label: string;
  readonly question: string;
  readonly done?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly class?: string;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const confirm = () => {
    close();
    props.onConfirm().then(() => {
      if (props.done !== undefined) say(props.done);
    }, complain);
  };
  return (
    <>
      <button type="button" class={props.class ?? 'danger'} onClick={() => setOpen(true)}>
        {props.label}
      </button>
      {isOpen ? (
        <Dialog title={props.label} onClose={close}>
          <p>{props.question}</p>
          <div class="actions">
            <button type="button" onClick={close}>
              {t('app.cancel')}
            </button>
            <button type="button" class="danger" onClick={confirm}>
              {props.label}
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}

/** A secret that is shown this once. */
export function SecretDialog(props: {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}) {
  const shown = useRef<HTMLElement>(null);
  const copy = () => {
    copyText(props.secret, shown.current).then(() => say(t('app.copied')), complain);
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{t('secret.once')}</p>
      <p>
        <code class="secret" ref={shown}>
          {props.secret}
        </code>
      </p>
      <div class="actions">
        <button type="button" onClick={copy}>
          {t('app.copy')}
        </button>
        <button type="button" class="main" onClick={props.onClose}>
          {t('secret.kept')}
        </button>
      </div>
    </Dialog>
  );
}

/** Over plain http browsers have no clipboard to give, and copy only what is selected. */
async function copyText(text: string, element: HTMLElement | null): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) return await clipboard.writeText(text);
  if (element !== null) getSelection()?.selectAllChildren(element);
  document.execCommand('copy');
}
