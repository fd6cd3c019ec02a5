/** The steps of the wizard of a new trunk, each a form of its own over the same draft. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Trunk } from '../api-types.ts';
import { environment, t } from '../app-state.ts';
import { mergedFields } from '../changed-fields.ts';
import { PlaceCallForm } from '../outbound/place-call.tsx';
import { SelectField } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Button } from '../parts/page.tsx';
import { stepsFound } from './check-progress.ts';
import { answererName, answererOf } from './save-trunk.ts';
import { CheckButton, CheckReport, CheckSteps, testNumberOf } from './trunk-check.tsx';
import { numbersOf } from './trunk-draft.ts';
import { TrunkFields } from './trunk-fields.tsx';
import { draftOfPreset, neededFields, PRESETS } from './trunk-presets.ts';
import { TrunkPriceFields } from './trunk-price-fields.tsx';
import { useTrunkCheck } from './use-trunk-check.ts';
import type { Wizard } from './use-trunk-wizard.ts';
import { ACCESS_FIELDS, faultsOfAccess, NUMBER_FIELDS, stepOfRefusal } from './wizard-steps.ts';

/** The manual's page that says what to set on the carrier's side. */
const CARRIERS_ADDRESS = 'manual/carriers.html';

/** Numbers that are given to agents here; the page of numbers has all. */
const ANSWERERS_MAX = 20;

/** A step that is typed in: shows the refusal that belongs to it, and goes on or saves. */
function StepForm(props: {
  readonly wizard: Wizard;
  readonly onBack?: () => void;
  readonly onNext?: () => void;
  readonly children: ComponentChildren;
}) {
  const { wizard, onBack, onNext, children } = props;
  const { form, step, trunk } = wizard;
  const isMine =
    form.error !== undefined && stepOfRefusal(form.error, trunk !== undefined) === step;
  const next = (event?: Event) => {
    event?.preventDefault();
    onNext?.();
  };
  return (
    <Form
      form={{
        isBusy: form.isBusy,
        error: isMine ? form.error : undefined,
        submit: onNext === undefined ? form.submit : next,
      }}
      label={t(onNext === undefined ? 'wizard.save' : 'wizard.next')}
      onBack={onBack}
      needs="admin"
      isChecked
    >
      {children}
    </Form>
  );
}

/** The carrier to begin with, which fills in what all its customers share. */
export function CarrierStep(wizard: Wizard) {
  const { form, trunk, go } = wizard;
  const { preset, name } = form.values;
  const choose = (chosen: string) => {
    const [begun, theirs] = [draftOfPreset(preset), draftOfPreset(chosen)];
    const draft = mergedFields({ begun, mine: form.values, theirs });
    form.change({ ...draft, preset: chosen, name: trunk === undefined ? draft.name : name });
  };
  return (
    <StepForm wizard={wizard} onNext={() => go('access')}>
      <SelectField
        label={t('trunk.preset')}
        hint={t('trunk.presetHint')}
        value={preset}
        onValue={choose}
        options={[
          ['', t('trunk.other')],
          ...Object.entries(PRESETS).map(([value, { title }]) => [value, title] as const),
        ]}
      />
      <p class="small">
        <a href={CARRIERS_ADDRESS}>{t('trunk.carrierSide')}</a>
      </p>
      {trunk === undefined && <TrunkFields form={form} names={['name']} required={['name']} />}
    </StepForm>
  );
}

/** What the carrier wants to know; what its preset has already is folded away. */
export function AccessStep(wizard: Wizard) {
  const { form, trunk, check, go } = wizard;
  const { preset, register, username } = form.values;
  const hasPassword = trunk?.hasPassword ?? false;
  const needed = neededFields(preset);
  const others = ACCESS_FIELDS.filter((field) => !needed.includes(field));
  const isWrong = others.some((field) => form.field(field).error !== undefined);
  const faults = faultsOfAccess(check);
  const required = [
    'proxy' as const,
    ...(register === 'true' ? (['username'] as const) : []),
    ...(username !== '' && !hasPassword ? (['password'] as const) : []),
  ];
  return (
    <StepForm wizard={wizard} onBack={() => go('carrier')} onNext={() => go('numbers')}>
      {faults.length > 0 && (
        <div class="box bad">
          <CheckSteps steps={stepsFound(faults)} />
        </div>
      )}
      <TrunkFields form={form} names={needed} required={required} hasPassword={hasPassword} />
      <details open={isWrong}>
        <summary>{t('wizard.more')}</summary>
        <div class="wizard-step">
          <TrunkFields form={form} names={others} hasPassword={hasPassword} />
        </div>
      </details>
    </StepForm>
  );
}

/** The numbers that the carrier brings, the agents that answer them, and the price. May be left empty. */
export function NumbersStep(wizard: Wizard) {
  const { form, go } = wizard;
  // The sandbox has no trunks.
  const numbers = environment.value === 'test' ? [] : numbersOf(form.values.numbers);
  return (
    <StepForm wizard={wizard} onBack={() => go('access')}>
      <p class="hint">{t('wizard.numbersHint')}</p>
      <TrunkFields form={form} names={NUMBER_FIELDS} />
      {numbers.slice(0, ANSWERERS_MAX).map((number) => (
        <Answerer key={number} number={number} {...wizard} />
      ))}
      {numbers.length > ANSWERERS_MAX && <p class="hint">{t('wizard.moreNumbers')}</p>}
      <TrunkPriceFields form={form} />
    </StepForm>
  );
}

function Answerer({ number, form, agents }: Wizard & { readonly number: string }) {
  const { answerers } = form.values;
  const isFree = (id: string) =>
    Object.entries(answerers).every(([other, agentId]) => other === number || agentId !== id);
  return (
    <SelectField
      label={t('numbers.answers', { number })}
      value={answerers[number] ?? answererOf(agents.list, number)}
      onValue={(id) => form.change({ answerers: { ...answerers, [number]: id } })}
      options={[
        ['', t('numbers.unassigned')],
        ...agents.list
          .filter(({ id }) => isFree(id))
          .map((agent) => [agent.id, answererName(agent, number)] as const),
      ]}
    />
  );
}

/** Checks the trunk as soon as it is shown. */
export function CheckStep({ trunk, onChecked, go }: Wizard & { readonly trunk: Trunk }) {
  const checking = useTrunkCheck(trunk.name);
  const { check, start } = checking;
  useEffect(start, []);
  useEffect(() => {
    if (check !== undefined) onChecked(check);
  }, [check]);
  const isMendable = faultsOfAccess(check).length > 0;
  return (
    <div class="wizard-step">
      <p class="hint">{t('trunk.checkHint')}</p>
      <CheckReport {...checking} />
      <div class="actions">
        <Button text={t('app.back')} onClick={() => go('numbers')} />
        <CheckButton checking={checking} label={t('wizard.checkAgain')} />
        {isMendable && <Button class="main" text={t('wizard.mend')} onClick={() => go('access')} />}
        <Button
          class={isMendable ? '' : 'main'}
          text={t('wizard.next')}
          onClick={() => go('call')}
        />
      </div>
    </div>
  );
}

/** Places a call over the trunk, where it has a number to place it from. */
export function CallStep({ trunk, go }: Wizard & { readonly trunk: Trunk }) {
  const from = testNumberOf(trunk);
  return (
    <div class="wizard-step">
      <p class="hint">{t(from === undefined ? 'wizard.noNumber' : 'wizard.callHint')}</p>
      {from !== undefined && <PlaceCallForm from={from} />}
      <div class="actions">
        <Button text={t('app.back')} onClick={() => go('check')} />
        <a class="button" href={`#/trunks/${encodeURIComponent(trunk.name)}`}>
          {t('wizard.done')}
        </a>
      </div>
    </div>
  );
}
