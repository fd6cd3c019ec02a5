/** The wizard of a new trunk: carrier, access, numbers, check, test call. Its step is in the address. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Trunk, TrunkCheck } from '../api-types.ts';
import { environment, route, t } from '../app-state.ts';
import { mergedFields } from '../forms/form-changes.ts';
import { BroughtBack, type KeptFormState, useKeptForm } from '../forms/kept-form.tsx';
import { SelectField } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Button, LinkButton } from '../parts/page.tsx';
import { PlaceCallForm } from '../parts/place-call.tsx';
import { type Agents, useAgents } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { answererName, answererOf, giveNumbers, saveTrunk } from './save-trunk.ts';
import {
  CheckButton,
  CheckReport,
  CheckSteps,
  testNumberOf,
  useTrunkCheck,
} from './trunk-check.tsx';
import { draftOf, NEW_TRUNK, numbersOf, type WizardDraft } from './trunk-draft.ts';
import { TrunkFields, TrunkPriceFields } from './trunk-fields.tsx';
import {
  ACCESS_FIELDS,
  draftOfPreset,
  faultsOfAccess,
  MADE_TRUNK,
  NUMBER_FIELDS,
  neededFields,
  PRESETS,
  presetAt,
  stepOfRefusal,
  stepsFound,
  WIZARD_STEPS,
  type WizardStep,
  wizardAddress,
  wizardStepOf,
} from './wizard-steps.ts';

/** @param props.made the trunk that the wizard saved before it was reloaded. */
export function TrunkWizard({ made }: { readonly made: Trunk | undefined }) {
  const wizard = useTrunkWizard(made);
  const { step, form } = wizard;
  const heading = useFocusOfSteps(step);
  return (
    <div class="panes panes-one">
      <StepList step={step} />
      <div class="card">
        <div class="card-head">
          <h2 ref={heading} tabIndex={-1}>
            {t(`wizard.${step}`)}
          </h2>
        </div>
        <BroughtBack form={form} />
        <StepShown {...wizard} />
      </div>
    </div>
  );
}

function StepShown(wizard: Wizard) {
  const { step, trunk } = wizard;
  switch (step) {
    case 'carrier':
      return <CarrierStep {...wizard} />;
    case 'access':
      return <AccessStep {...wizard} />;
    case 'numbers':
      return <NumbersStep {...wizard} />;
    case 'check':
      return trunk === undefined ? null : <CheckStep {...wizard} trunk={trunk} />;
    case 'call':
      return trunk === undefined ? null : <CallStep {...wizard} trunk={trunk} />;
    default:
      return step satisfies never;
  }
}

function StepList(props: { readonly step: WizardStep }) {
  return (
    <ol class="wizard-steps">
      {WIZARD_STEPS.map((step) => (
        <li key={step} aria-current={step === props.step ? 'step' : undefined}>
          <span>{t(`wizard.${step}`)}</span>
        </li>
      ))}
    </ol>
  );
}

/** Moves the focus to the heading of each step that follows the first one shown, which comes with its page. */
function useFocusOfSteps(step: WizardStep) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current !== step) heading.current?.focus();
    shown.current = step;
  }, [step]);
  return heading;
}

/** Props that every step shares. */
interface Wizard {
  readonly step: WizardStep;
  readonly form: KeptFormState<WizardDraft>;
  readonly agents: Agents;
  /** Trunk as it was saved last; undefined before. */
  readonly trunk: Trunk | undefined;
  /** Check of the trunk as it was saved last. */
  readonly check: TrunkCheck | undefined;
  readonly onChecked: (check: TrunkCheck) => void;
  readonly go: (step: WizardStep) => void;
}

/** @param made the trunk that the wizard saved before it was reloaded. */
function useTrunkWizard(made: Trunk | undefined): Wizard {
  const [trunk, setTrunk] = useState(made);
  const [check, onChecked] = useState<TrunkCheck | undefined>(undefined);
  const agents = useAgents();
  const { query } = route.value;
  const step = wizardStepOf(query, trunk !== undefined);
  const go = (next: WizardStep, of = trunk) => location.assign(wizardAddress(next, of?.name));
  const form = useKeptForm<WizardDraft>({
    kept: {
      path: `api/trunks/${NEW_ID}`,
      withoutSecrets: (draft) => ({ ...draft, password: '' }),
    },
    fresh: () => wizardDraftOf(made),
    send: async (draft, begun) => {
      let saved = trunk;
      try {
        saved = await saveTrunk(trunk, draft, begun);
        setTrunk(saved);
        const now = { ...wizardDraftOf(saved), preset: draft.preset };
        // The trunk is there even if one of its numbers cannot be given.
        form.restart(now, { ...now, answerers: draft.answerers });
        await giveNumbers(draft, agents.list).finally(agents.reload);
        go('check', saved);
        return now;
      } catch (error) {
        go(stepOfRefusal(error, saved !== undefined), saved);
        throw error;
      }
    },
  });
  useEffect(() => {
    // Entries of the browser's history from before the trunk was saved do not name it.
    if (trunk === undefined || query.get(MADE_TRUNK) === trunk.name) return;
    location.replace(wizardAddress(step, trunk.name));
  }, [query]);
  return { step, form, agents, trunk, check, onChecked, go };
}

function wizardDraftOf(trunk: Trunk | undefined): WizardDraft {
  if (trunk === undefined) return { ...NEW_TRUNK, preset: '', answerers: {} };
  return { ...draftOf(trunk), preset: presetAt(trunk.proxy), answerers: {} };
}

/** The manual's page about settings on the carrier's side. */
const CARRIERS_ADDRESS = 'manual/carriers.html';

/** Numbers that are given to agents here; the page of numbers has all. */
const ANSWERERS_MAX = 20;

/** A step with input fields: shows errors about them, and goes to the next step or saves. */
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

/** The choice of a carrier; its preset fills in the fields that are the same for all its customers. */
function CarrierStep(wizard: Wizard) {
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

/** Step for the access data that the carrier requires; fields that its preset fills are folded away. */
function AccessStep(wizard: Wizard) {
  const { form, trunk, check, go } = wizard;
  const { preset, register, username } = form.values;
  const hasPassword = trunk?.hasPassword ?? false;
  const needed = neededFields(preset);
  const others = ACCESS_FIELDS.filter((field) => !needed.includes(field));
  const isWrong = others.some((field) => form.bound(field).error !== undefined);
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
function NumbersStep(wizard: Wizard) {
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
function CheckStep({ trunk, onChecked, go }: Wizard & { readonly trunk: Trunk }) {
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
function CallStep({ trunk, go }: Wizard & { readonly trunk: Trunk }) {
  const from = testNumberOf(trunk);
  return (
    <div class="wizard-step">
      <p class="hint">{t(from === undefined ? 'wizard.noNumber' : 'wizard.callHint')}</p>
      {from !== undefined && <PlaceCallForm from={from} />}
      <div class="actions">
        <Button text={t('app.back')} onClick={() => go('check')} />
        <LinkButton href={`#/trunks/${encodeURIComponent(trunk.name)}`} text={t('wizard.done')} />
      </div>
    </div>
  );
}
