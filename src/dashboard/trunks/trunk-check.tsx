/** Checks a trunk, shows each step as it happens with what was found and what to do, and tries the trunk by a call. */
import { CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide';
import type { Trunk } from '../api-types.ts';
import { may, sentence, t, word } from '../app-state.ts';
import { Icon, type IconShape } from '../frame/icon.tsx';
import { PlaceCallForm } from '../outbound/place-call.tsx';
import { DialogButton } from '../parts/dialog.tsx';
import { Button, Problem, Section } from '../parts/page.tsx';
import type { ShownStep } from './check-progress.ts';
import { type TrunkChecking, useTrunkCheck } from './use-trunk-check.ts';

/** Of a trunk that there is. */
export function TrunkCheckPane({ trunk }: { readonly trunk: Trunk }) {
  const checking = useTrunkCheck(trunk.name);
  const from = testNumberOf(trunk);
  if (!may('admin')) return null;
  return (
    <Section title={t('trunk.check')}>
      <p class="hint">{t('trunk.checkHint')}</p>
      <div class="actions">
        <CheckButton class="main" checking={checking} label={t('trunk.checkNow')} />
        {from !== undefined && (
          <DialogButton label={t('trunk.testCall')} needs="editor">
            {(close) => <PlaceCallForm from={from} onClose={close} />}
          </DialogButton>
        )}
      </div>
      <CheckReport {...checking} />
    </Section>
  );
}

/** The number that a call is placed from chooses its trunk. Undefined where the trunk has only beginnings of numbers. */
export function testNumberOf({ numbers }: Pick<Trunk, 'numbers'>): string | undefined {
  return numbers.find((number) => /^\+\d+$/.test(number));
}

/** Begins the check, and stops it while it runs: one button, which keeps the focus. */
export function CheckButton(props: {
  readonly checking: TrunkChecking;
  /** Of the button that begins. */
  readonly label: string;
  readonly class?: string;
}) {
  const { label } = props;
  const { isBusy, start, stop } = props.checking;
  return (
    <Button
      class={props.class ?? ''}
      text={isBusy ? t('trunk.checkStop') : label}
      onClick={isBusy ? stop : start}
    />
  );
}

/** What is known of the check: its state, each step that has begun, and why it broke off. */
export function CheckReport({ steps, check, isBusy, isStopped, error }: TrunkChecking) {
  const isShown = isBusy || isStopped || steps.length > 0;
  return (
    <>
      <Problem error={error} />
      {isShown && (
        <div class="outcome">
          <p role="status">
            <CheckOutcome check={check} isBusy={isBusy} />
          </p>
          {/* Screen readers say each step as it changes. */}
          <div aria-live="polite">
            <CheckSteps steps={steps} />
          </div>
        </div>
      )}
    </>
  );
}

function CheckOutcome({ check, isBusy }: Pick<TrunkChecking, 'check' | 'isBusy'>) {
  if (isBusy) return <>{t('trunk.checking')}</>;
  if (check === undefined) return <>{t('trunk.checkEndedEarly')}</>;
  const { ok } = check;
  return (
    <span class={`state ${ok ? 'good' : 'bad'}`}>{t(ok ? 'trunk.works' : 'trunk.faulty')}</span>
  );
}

const LOOKS: Readonly<Record<ShownStep['state'], readonly [tone: string, icon: IconShape]>> = {
  ok: ['good', CircleCheck],
  failed: ['bad', CircleX],
  running: ['busy', LoaderCircle],
  waiting: ['plain', CircleDashed],
  skipped: ['plain', CircleDashed],
  unchecked: ['plain', CircleDashed],
};

/** What was found at each step, and what to do. */
export function CheckSteps({ steps }: { readonly steps: readonly ShownStep[] }) {
  return (
    <ul class="check-steps">
      {steps.map(({ step, state, message }) => {
        const [tone, icon] = LOOKS[state];
        return (
          <li key={step} aria-atomic="true">
            <span class={`state ${tone}`}>
              <Icon of={icon} />
              {word('trunkStep', step)}
            </span>{' '}
            {message === null ? word('stepState', state) : sentence(message)}
          </li>
        );
      })}
    </ul>
  );
}
