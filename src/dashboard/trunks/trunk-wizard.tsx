/** The wizard of a new trunk: carrier, access, numbers, check, test call. Each step has an address, so that the browser goes back by a step. */
import { useEffect, useRef } from 'preact/hooks';
import type { Trunk } from '../api-types.ts';
import { t } from '../app-state.ts';
import { BroughtBack } from '../parts/brought-back.tsx';
import {
  AccessStep,
  CallStep,
  CarrierStep,
  CheckStep,
  NumbersStep,
} from './trunk-wizard-steps.tsx';
import { useTrunkWizard, type Wizard } from './use-trunk-wizard.ts';
import { WIZARD_STEPS, type WizardStep } from './wizard-steps.ts';

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
