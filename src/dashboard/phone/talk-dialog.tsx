/** The phone's window: calls an agent from the page, and shows what is said. */
import './phone.css';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { complain, t } from '../app-state.ts';
import { clockText } from '../format.ts';
import type { LiveCall } from '../live-state.ts';
import { fallen, fillOf } from '../meter-board.ts';
import { SelectField } from '../parts/field.tsx';
import { Words } from '../parts/heard.tsx';
import { ENGINE_JOBS, StandIns } from '../parts/stand-ins.tsx';
import { useFollow } from '../parts/use-follow.ts';
import type { TextKey } from '../text/text.ts';
import { KEYS, keyOf } from './keys.ts';
import { rememberedMicrophone, rememberMicrophone } from './microphone.ts';
import { chosenOf } from './microphone-choice.ts';
import { isBusy, PhoneError, type PhoneProblem, type PhoneState, talkedMs } from './phone-state.ts';
import type { TalkDialogProps } from './talk-dialog-props.ts';
import { useMicrophones } from './use-microphones.ts';
import { useOwnCall } from './use-own-call.ts';
import { usePhone } from './use-phone.ts';

export function TalkDialog({ agentId, agentName, onClose }: TalkDialogProps) {
  const { phone, state } = usePhone(agentId);
  const call = useOwnCall(state.callId);
  const isOpen = isBusy(state) && state.status !== 'asking';
  const choice = useMicrophoneChoice(isOpen, (deviceId) => phone.changeMicrophone(deviceId));
  const levelDbfs = useCallback(() => phone.levelDbfs, [phone]);
  const window = useLeaving(isBusy(state));
  const press = (key: string) => phone.press(key);
  return (
    <dialog
      ref={window.ref}
      class="phone"
      aria-label={t('phone.title', { name: agentName })}
      onClose={onClose}
      onCancel={window.onCancel}
      onKeyDown={(event) => {
        if (event.key === 'Escape') window.onCancel(event);
        else typed(event, press);
      }}
    >
      <h2>{t('phone.title', { name: agentName })}</h2>
      <StandIns jobs={ENGINE_JOBS} />
      <PhoneStatusLine state={state} />
      {state.problem === null ? null : <PhoneTrouble problem={state.problem} />}
      {window.isAsked ? <LeaveQuestion onStay={window.stay} onLeave={window.close} /> : null}
      <div class="phone-parts">
        <Controls
          state={state}
          choice={choice}
          levelDbfs={levelDbfs}
          onMute={(isMuted) => phone.mute(isMuted)}
        />
        <Spoken call={call} />
        {state.status === 'talking' ? <Keypad pressed={state.pressed} onKey={press} /> : null}
      </div>
      <div class="actions">
        {state.status === 'ended' && call !== undefined ? (
          <a class="button" href={`#/calls/${call.id}`}>
            {t('phone.record')}
          </a>
        ) : null}
        <button type="button" onClick={window.leave}>
          {t('app.close')}
        </button>
        <CallButton
          state={state}
          onCall={() => void phone.call(choice.deviceId)}
          onHangUp={() => phone.hangUp()}
        />
      </div>
    </dialog>
  );
}

/** Types the telephone's keys, except where typing means something else. */
function typed(event: KeyboardEvent, onKey: (key: string) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target instanceof HTMLSelectElement) return;
  const key = keyOf(event.key);
  if (key !== undefined) onKey(key);
}

/** What stands in the way of a call: what it is, and what to do about it. */
function PhoneTrouble({ problem }: { readonly problem: PhoneProblem }) {
  const { kind, detail = '' } = problem;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{t(`phone.why.${kind}`)}</strong>
      </p>
      <p>{t(`phone.do.${kind}`)}</p>
      {detail === '' ? null : <p class="small">{detail}</p>}
    </div>
  );
}

/** The keys of the telephone, and what was pressed. */
function Keypad(props: { readonly pressed: string; readonly onKey: (key: string) => void }) {
  return (
    <fieldset class="keypad">
      <legend>{t('phone.keys')}</legend>
      <output class="number keypad-pressed">{props.pressed}</output>
      {KEYS.map((key) => (
        <button key={key} type="button" onClick={() => props.onKey(key)}>
          {key}
        </button>
      ))}
    </fieldset>
  );
}

const TICK_MS = 500;

/** The words are a live region; the seconds are not, or they would be read out one by one. */
function PhoneStatusLine({ state }: { readonly state: PhoneState }) {
  const nowMs = useNowMs(state.status === 'talking');
  return (
    <p class="phone-line">
      <span role="status">
        {t(textOf(state))}
        {state.isMuted && state.status !== 'ended' ? ` · ${t('phone.muted')}` : ''}
      </span>
      {state.answeredAtMs === null ? null : (
        <span class="number" role="timer">
          {clockText(talkedMs(state, nowMs) / 1000)}
        </span>
      )}
    </p>
  );
}

function textOf({ status, endedBy, answeredAtMs }: PhoneState): TextKey {
  if (status !== 'ended') return `phone.state.${status}`;
  if (endedBy !== null) return `phone.ended.${endedBy}`;
  return answeredAtMs === null ? 'phone.ended.never' : 'phone.ended.broken';
}

function useNowMs(isTicking: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isTicking) return;
    const tick = () => setNowMs(Date.now());
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return nowMs;
}

/**
 * Opens the window; Escape and closing ask while `isBusyNow`, and Escape at the question stays. `close` is what ends in
 * the dialog's own event, so that the focus goes back to where it was.
 */
function useLeaving(isBusyNow: boolean) {
  const ref = useRef<HTMLDialogElement>(null);
  const [isAsked, setAsked] = useState(false);
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    ref.current?.showModal();
    focusCall(ref.current);
  }, []);
  useEffect(() => {
    if (isBusyNow) return;
    setAsked(false);
    const active = document.activeElement;
    // What had the focus may have gone with the call.
    if (!ref.current?.contains(active) || active?.matches(':disabled')) focusCall(ref.current);
  }, [isBusyNow]);
  const close = () => ref.current?.close();
  const stay = () => {
    setAsked(false);
    if (focused.current instanceof HTMLElement) focused.current.focus();
  };
  const leave = () => {
    if (!isBusyNow) return close();
    focused.current = document.activeElement;
    setAsked(true);
  };
  const onCancel = (event: Event) => {
    event.preventDefault();
    if (isAsked) stay();
    else leave();
  };
  return { ref, isAsked: isAsked && isBusyNow, stay, leave, close, onCancel };
}

function focusCall(dialog: HTMLDialogElement | null): void {
  dialog?.querySelector<HTMLElement>('.phone-call')?.focus();
}

/** Leaving the phone's window: where that would end a call, it asks first. */
function LeaveQuestion(props: { readonly onStay: () => void; readonly onLeave: () => void }) {
  const stay = useRef<HTMLButtonElement>(null);
  useEffect(() => stay.current?.focus(), []);
  return (
    <div class="phone-question" role="alertdialog" aria-labelledby="phone-question">
      <p id="phone-question">{t('phone.leaveQuestion')}</p>
      <div class="actions">
        <button type="button" ref={stay} onClick={props.onStay}>
          {t('phone.stay')}
        </button>
        <button type="button" class="danger" onClick={props.onLeave}>
          {t('phone.leave')}
        </button>
      </div>
    </div>
  );
}

/** One button, so that the focus stays where it is when a call begins and ends. */
function CallButton(props: {
  readonly state: PhoneState;
  readonly onCall: () => void;
  readonly onHangUp: () => void;
}) {
  const { state, onCall, onHangUp } = props;
  const busy = isBusy(state);
  const text = busy ? 'phone.hangUp' : state.status === 'idle' ? 'phone.call' : 'phone.again';
  return (
    <button
      type="button"
      class={`phone-call ${busy ? 'danger' : 'main'}`}
      onClick={(event) => {
        // The second half of a double click must not undo the first.
        if (event.detail > 1) return;
        if (busy) onHangUp();
        else onCall();
      }}
    >
      {t(text)}
    </button>
  );
}

function Controls(props: {
  readonly state: PhoneState;
  readonly choice: MicrophoneChoice;
  readonly levelDbfs: () => number | undefined;
  readonly onMute: (isMuted: boolean) => void;
}) {
  const { state, choice, levelDbfs, onMute } = props;
  return (
    <div class="phone-controls">
      <MicrophoneSelect choice={choice} />
      <div class="phone-level">
        <LevelMeter levelDbfs={levelDbfs} />
        <button
          type="button"
          aria-pressed={state.isMuted}
          disabled={!isBusy(state)}
          onClick={() => onMute(!state.isMuted)}
        >
          {t('phone.mute')}
        </button>
      </div>
    </div>
  );
}

/** No live region: listeners to the call would hear every word twice. */
function Spoken({ call }: { readonly call: LiveCall | undefined }) {
  const entries = call?.transcript ?? [];
  const hearing = call?.hearing ?? '';
  const words = useFollow<HTMLElement>([entries.length, hearing]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="phone-words" ref={words} tabIndex={0} aria-label={t('words.label')}>
      {entries.length === 0 && hearing === '' ? <p class="empty">{t('phone.noWords')}</p> : null}
      <Words entries={entries} hearing={hearing} />
    </section>
  );
}

/** So often the eye sees it move, and no more work than that is done. */
const LOOK_MS = 50;

/** @param props.levelDbfs asked again and again; undefined while no microphone is open. */
function LevelMeter(props: { readonly levelDbfs: () => number | undefined }) {
  const meter = useRef<HTMLMeterElement>(null);
  const { levelDbfs } = props;
  useEffect(() => {
    let shown = 0;
    const timer = setInterval(() => {
      const dbfs = levelDbfs();
      shown = dbfs === undefined ? 0 : fallen(shown, fillOf(dbfs), LOOK_MS);
      if (meter.current !== null) meter.current.value = shown;
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [levelDbfs]);
  return <meter ref={meter} class="level" min={0} max={1} aria-label={t('phone.level')} />;
}

/** The chosen one, what to choose from, and choosing. */
interface MicrophoneChoice {
  readonly deviceId: string;
  readonly options: readonly (readonly [deviceId: string, label: string])[];
  readonly choose: (deviceId: string) => void;
}

/**
 * @param isAllowed whether a microphone is open: only then browsers tell names.
 * @param change puts the chosen one in the place of one that is open. @throws {PhoneError}
 */
function useMicrophoneChoice(
  isAllowed: boolean,
  change: (deviceId: string) => Promise<void>,
): MicrophoneChoice {
  const microphones = useMicrophones(isAllowed);
  const [wanted, setWanted] = useState(rememberedMicrophone);
  const choose = (deviceId: string) => {
    const before = wanted;
    setWanted(deviceId);
    change(deviceId).then(
      () => rememberMicrophone(deviceId),
      (error: unknown) => {
        setWanted(before);
        complain(
          error instanceof PhoneError ? new Error(t(`phone.why.${error.problem.kind}`)) : error,
        );
      },
    );
  };
  return {
    deviceId: chosenOf(microphones, wanted),
    options: microphones.map(({ deviceId, label }) => [deviceId, label] as const),
    choose,
  };
}

/** Chooses a microphone, before a call and during it; the choice is remembered in this browser. */
function MicrophoneSelect({ choice }: { readonly choice: MicrophoneChoice }) {
  const { deviceId, options, choose } = choice;
  return (
    <SelectField
      label={t('phone.microphone')}
      hint={options.length === 0 ? t('phone.microphoneHint') : undefined}
      value={deviceId}
      options={[['', t('phone.microphoneAny')], ...options.filter(([id]) => id !== 'default')]}
      onValue={choose}
    />
  );
}
