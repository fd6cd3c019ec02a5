/** Windows over the page: to confirm what cannot be undone, and to show secrets once. */
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Role } from '../api-types.ts';
import { complain, may, say, t } from '../app-state.ts';
import { CopyButton } from './copy-button.tsx';
import { Button } from './page.tsx';

/** Closes with Escape too, unless it has to stay; the focus goes back to where it was. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether only its own buttons close it. */
  readonly stays?: boolean;
  readonly children: ComponentChildren;
}) {
  const { stays = false, onClose } = props;
  const element = useModal();
  const onClosed = () => {
    // Browsers close a window at the second Escape although the page has refused the first.
    if (stays && element.current?.isConnected === true) element.current.showModal();
    else onClose();
  };
  const onCancel = (event: Event) => {
    if (stays) event.preventDefault();
  };
  return (
    <dialog ref={element} aria-label={props.title} onClose={onClosed} onCancel={onCancel}>
      <h2>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

/** A window that is open while it is there. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Only a dialog that is closed gives the focus back: one that is taken away does not.
    return () => dialog?.close();
  }, []);
  return element;
}

/** A button that opens a window. Hidden from roles that may not use it. */
export function DialogButton(props: {
  readonly label: string;
  /** Title of the window, where it is not the button's label. */
  readonly title?: string;
  readonly class?: string;
  /** Role that it needs; a viewer's unless given. */
  readonly needs?: Role | undefined;
  readonly children: (close: () => void) => ComponentChildren;
}) {
  const { label, title = label, needs = 'viewer', children } = props;
  const [isOpen, setOpen] = useState(false);
  if (!may(needs)) return null;
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" class={props.class} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          {children(close)}
        </Dialog>
      )}
    </>
  );
}

/** Question before an action, with buttons to cancel and to confirm. */
export function Question(props: {
  readonly text: string;
  readonly yes: string;
  readonly class: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
}) {
  return (
    <>
      <p>{props.text}</p>
      <div class="actions">
        <Button text={t('app.cancel')} onClick={props.onNo} />
        <Button class={props.class} text={props.yes} onClick={props.onYes} />
      </div>
    </>
  );
}

/** A button that asks for confirmation. Hidden from roles that may not use it. */
export function ConfirmButton(props: {
  readonly label: string;
  readonly question: string;
  readonly done?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly class?: string;
  readonly needs?: Role;
}) {
  const { label, question, done } = props;
  const confirm = () => {
    props.onConfirm().then(() => {
      if (done !== undefined) say(done);
    }, complain);
  };
  return (
    <DialogButton label={label} class={props.class ?? 'danger'} needs={props.needs}>
      {(close) => (
        <Question
          text={question}
          yes={label}
          class="danger"
          onNo={close}
          onYes={() => {
            close();
            confirm();
          }}
        />
      )}
    </DialogButton>
  );
}

/** A secret that is shown this once: only its button closes the window. */
export function SecretDialog(props: {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose} stays>
      <p>{t('secret.once')}</p>
      <p>
        <code class="secret">{props.secret}</code>
      </p>
      <div class="actions">
        <CopyButton label={t('app.copy')} text={props.secret} />
        <Button class="main" text={t('secret.kept')} onClick={props.onClose} />
      </div>
    </Dialog>
  );
}
