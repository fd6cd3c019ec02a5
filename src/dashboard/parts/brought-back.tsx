/** Tells that a form began with what was typed before, and throws it away where that is not wanted. */
import { t } from '../app-state.ts';
import { Button } from './page.tsx';
import type { KeptFormState } from './use-kept-form.ts';

export function BroughtBack(props: {
  readonly form: Pick<KeptFormState<object>, 'isBroughtBack' | 'discard'>;
}) {
  const { isBroughtBack, discard } = props.form;
  if (!isBroughtBack) return null;
  return (
    <div class="notice row" role="status">
      <p>{t('form.broughtBack')}</p>
      <Button text={t('agent.discard')} onClick={discard} />
    </div>
  );
}
