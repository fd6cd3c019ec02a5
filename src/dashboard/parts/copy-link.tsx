/** Copies the address of the page for another person, with its environment. */
import { useRef } from 'preact/hooks';
import { complain, environment, say, t } from '../app-state.ts';
import { addressIn } from '../router.ts';
import { copyText } from './dialog.tsx';
import { Button } from './page.tsx';

/** The link opens after signing in. */
export function CopyLink() {
  const text = useRef<HTMLSpanElement>(null);
  const link = new URL(addressIn(location.hash, environment.value), location.href).href;
  const copy = () => {
    copyText(link, text.current).then(() => say(t('app.linkCopied')), complain);
  };
  return (
    <>
      <Button text={t('app.copyLink')} onClick={copy} />
      <span class="unseen" aria-hidden="true" ref={text}>
        {link}
      </span>
    </>
  );
}
