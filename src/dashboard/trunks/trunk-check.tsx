/** Checks a trunk within a time limit, shows each step with its finding and advice, and tries the trunk by a call. */
import { CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { readEvents } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import type { Trunk, TrunkCheck } from '../api-types.ts';
import { client, may, sentence, t, word } from '../app-state.ts';
import { Icon, type IconShape } from '../frame/icon.tsx';
import { DialogButton } from '../parts/dialog.tsx';
import { useSubmit } from '../parts/form.tsx';
import { Button, Problem, Section } from '../parts/page.tsx';
import { PlaceCallForm } from '../parts/place-call.tsx';
import {
  afterCheckEvent,
  type CheckState,
  NOTHING_CHECKED,
  type ShownStep,
  shownSteps,
} from './wizard-steps.ts';

/** Check of an existing trunk. */
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
  /** Label of the start button. */
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

/** State of the check, each step that has begun, and why it broke off. */
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

/** Findings of each step, and what to do. */
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

/** The server ends a check after 25 s. The rest is time for the way to the server. */
const LIMIT_MS = 40_000;

interface TrunkChecking {
  /** Empty until the server begins. */
  readonly steps: readonly ShownStep[];
  /** The result; undefined until the check is over. */
  readonly check: TrunkCheck | undefined;
  readonly isBusy: boolean;
  readonly isStopped: boolean;
  readonly error: unknown;
  /** Begins a check; does nothing while one is in progress. */
  readonly start: (event?: Event) => void;
  readonly stop: () => void;
}

/** @param name of the trunk. */
export function useTrunkCheck(name: string): TrunkChecking {
  const [known, setKnown] = useState(NOTHING_CHECKED);
  const [isStopped, setStopped] = useState(false);
  const stopping = useRef(new AbortController());
  const stop = () => stopping.current.abort();
  useEffect(() => stop, []);
  const { isBusy, error, submit } = useSubmit(async () => {
    setKnown(NOTHING_CHECKED);
    setStopped(false);
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    await followCheck(name, setKnown, signal).catch((failure: unknown) => {
      if (!signal.aborted) throw failure;
      setStopped(true);
    });
  });
  const { steps, check } = known;
  return {
    ...{ steps: shownSteps(steps, isBusy), check, isBusy, isStopped, error, start: submit, stop },
  };
}

/**
 * Resolves with the end of the check.
 *
 * @throws {ApiError} when the server refuses or fails.
 * @throws {Error} in the language of the page, when the check takes too long or the connection breaks.
 */
async function followCheck(
  name: string,
  onState: (state: CheckState) => void,
  stopped: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const signal = AbortSignal.any([stopped, limit]);
  const path = `api/trunks/${encodeURIComponent(name)}/check`;
  let state = NOTHING_CHECKED;
  try {
    const ask = { method: 'POST', accept: 'text/event-stream', signal } as const;
    await readEvents(
      await client.open(path, ask),
      (event) => {
        state = afterCheckEvent(state, event);
        onState(state);
      },
      signal,
    );
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const why = t(limit.aborted ? 'trunk.checkOverdue' : 'trunk.checkBroken');
    throw new Error(why, { cause: error });
  }
  if (state.failure !== undefined) throw state.failure;
  if (state.check === undefined) throw new Error(t('trunk.checkBroken'));
}
