/** Checks a trunk step by step, shows in a sentence each what was found and what to do, and tries it by a call. */
import { useState } from 'preact/hooks';
import type { Trunk, TrunkCheck } from '../api-types.ts';
import { client, may, sentence, t, word } from '../app-state.ts';
import { PlaceCallForm } from '../outbound/place-call.tsx';
import { DialogButton } from '../parts/dialog.tsx';
import { useSubmit } from '../parts/form.tsx';
import { Problem, Section } from '../parts/page.tsx';

export function TrunkCheckPane({ trunk }: { readonly trunk: Trunk }) {
  const { name, numbers } = trunk;
  // The number that a call is placed from chooses its trunk.
  const from = numbers.find((number) => /^\+\d+$/.test(number));
  const [check, setCheck] = useState<TrunkCheck | undefined>(undefined);
  const { isBusy, error, submit } = useSubmit(async () => {
    setCheck(undefined);
    const path = `api/trunks/${encodeURIComponent(name)}/check`;
    setCheck(await client.api<TrunkCheck>(path, { method: 'POST' }));
  });
  if (!may('admin')) return null;
  return (
    <Section title={t('trunk.check')}>
      <p class="hint">{t('trunk.checkHint')}</p>
      <div class="actions">
        <form onSubmit={submit}>
          <button type="submit" class="main" disabled={isBusy}>
            {t('trunk.checkNow')}
          </button>
        </form>
        {from !== undefined && (
          <DialogButton label={t('trunk.testCall')} needs="editor">
            {(close) => <PlaceCallForm from={from} onClose={close} />}
          </DialogButton>
        )}
        {isBusy && <span role="status">{t('trunk.checking')}</span>}
      </div>
      <Problem error={error} />
      {check !== undefined && <Steps check={check} />}
    </Section>
  );
}

function Steps({ check: { ok, steps } }: { readonly check: TrunkCheck }) {
  return (
    <div class="outcome" role="status">
      <p>
        <span class={`state ${ok ? 'good' : 'bad'}`}>{t(ok ? 'trunk.works' : 'trunk.faulty')}</span>
      </p>
      <ul class="check-steps">
        {steps.map(({ step, ok: isOk, message }) => (
          <li key={`${step} ${message}`}>
            <span class={`state ${isOk ? 'good' : 'bad'}`}>{word('trunkStep', step)}</span>{' '}
            {sentence(message)}
          </li>
        ))}
      </ul>
    </div>
  );
}
