/** Checks a trunk step by step, and shows in a sentence each what was found and what to do. */
import { useState } from 'preact/hooks';
import type { TrunkCheck } from '../api-types.ts';
import { client, may, sentence, t, word } from '../app-state.ts';
import { useSubmit } from '../parts/form.tsx';
import { Problem, Section } from '../parts/page.tsx';

export function TrunkCheckPane({ name }: { readonly name: string }) {
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
      <form onSubmit={submit} class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {t('trunk.checkNow')}
        </button>
        {isBusy && <span role="status">{t('trunk.checking')}</span>}
      </form>
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
