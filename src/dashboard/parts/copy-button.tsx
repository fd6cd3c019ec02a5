/** Buttons that copy a text, and the address of the page for another person. */
import { Copy } from 'lucide';
import { useRef } from 'preact/hooks';
import { complain, environment, say, t } from '../app-state.ts';
import { Icon } from '../frame/icon.tsx';
import { addressIn } from '../router.ts';

/** @param props.label names the copied text; it is unseen where the button is an icon next to the text. */
export function CopyButton(props: {
  readonly label: string;
  readonly text: string;
  /** Message after copying. */
  readonly done?: string;
  readonly isIcon?: boolean;
}) {
  const { label, text, done = t('app.copied'), isIcon = false } = props;
  const element = useRef<HTMLSpanElement>(null);
  const copy = () => {
    copyText(text, element.current).then(() => say(done), complain);
  };
  return (
    <>
      <button
        type="button"
        class={isIcon ? 'quiet copy-icon' : undefined}
        aria-label={label}
        title={isIcon ? label : undefined}
        onClick={copy}
      >
        {isIcon ? <Icon of={Copy} /> : label}
      </button>
      <span class="unseen" aria-hidden="true" ref={element}>
        {text}
      </span>
    </>
  );
}

/** The link opens after signing in, in the environment that is looked at. */
export function CopyLink() {
  const link = new URL(addressIn(location.hash, environment.value), location.href).href;
  return <CopyButton label={t('app.copyLink')} text={link} done={t('app.linkCopied')} />;
}

/** Over plain HTTP browsers have no clipboard API, and copy selected text only. */
async function copyText(text: string, element: HTMLElement | null): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) return await clipboard.writeText(text);
  if (element !== null) getSelection()?.selectAllChildren(element);
  document.execCommand('copy');
}
