/** Checks a trunk step by step, shows in a sentence each what was found and what to do, and tries it by a call. */
import { useState } from 'preact/hooks';
import type { Trunk, TrunkCheck } from '../api-types.ts';
import { client, may, sentence, t, word } from '../app-state.ts';
import { PlaceCallForm } from '../outbound/place-call.tsx';
import { DialogButton } from '../parts/dialog.tsx';
import { useSubmit } from '../parts/form.tsx';
import { Problem, Section } from '../parts/page.tsx';

/** Of a trunk that there is. */
export function TrunkCheckPane({ trunk }: { readonly trunk: Trunk }) {
  const { check, isBusy, error, submit } = useTrunkCheck(trunk.name);
  const from = testNumberOf(trunk);
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
      {check !== undefined && <CheckOutcome check={check} />}
    </Section>
  );
}

/** The number that a call is placed from chooses its trunk. Undefined where the trunk has only beginnings of numbers. */
export function testNumberOf({ numbers }: Pick<Trunk, 'numbers'>): string | undefined {
  return numbers.find((number) => /^\+\d+$/.test(number));
}

/** Checks a trunk each time that it is submitted. */
export function useTrunkCheck(name: string) {
  const [check, setCheck] = useState<TrunkCheck | undefined>(undefined);
  const submit = useSubmit(async () => {
    setCheck(undefined);
    const path = `api/trunks/${encodeURIComponent(name)}/check`;
    setCheck(await client.api<TrunkCheck>(path, { method: 'POST' }));
  });
  return { ...submit, check };
}

export function CheckOutcome({ check: { ok, steps } }: { readonly check: TrunkCheck }) {
  return (
    <div class="outcome" role="status">
      <p>
        <span class={`state ${ok ? 'good' : 'bad'}`}>{t(ok ? 'trunk.works' : 'trunk.faulty')}</span>
      </p>
      <CheckSteps steps={steps} />
    </div>
  );
}

/** What was found at each step, and what to do. */
export function CheckSteps({ steps }: Pick<TrunkCheck, 'steps'>) {
  return (
    <ul class="check-steps">
      {steps.map(({ step, ok, message }) => (
        <li key={`${step} ${message}`}>
          <span class={`state ${ok ? 'good' : 'bad'}`}>{word('trunkStep', step)}</span>{' '}
          {sentence(message)}
        </li>
      ))}
    </ul>
  );
}
