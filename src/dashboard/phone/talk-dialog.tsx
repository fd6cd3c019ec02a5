/** The phone's window: calls an agent from the page, and shows what is said. */
import './phone.css';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { t } from '../app-state.ts';
import { clockText } from '../format.ts';
import { useLeaveQuestion } from '../forms/kept-form.tsx';
import type { LiveCall } from '../live-state.ts';
import { fallen, fillOf } from '../meter-board.ts';
import { ENGINE_JOBS, StandIns } from '../parts/engines.tsx';
import { Words } from '../parts/heard.tsx';
import { Button, LinkButton } from '../parts/page.tsx';
import { useFollow } from '../parts/use-follow.ts';
import { useLive, useNowMs } from '../parts/use-live.ts';
import type { TextKey } from '../text/text.ts';
import { type BrowserPhone, browserPhone } from './browser-phone.ts';
import { type MicrophoneChoice, MicrophoneSelect, useMicrophoneChoice } from './microphone.tsx';
import {
  AT_REST,
  isBusy,
  KEYS,
  keyOf,
  type PhoneProblem,
  type PhoneState,
  talkedMs,
} from './phone-state.ts';

export interface TalkDialogProps {
  readonly agentId: string;
  readonly agentName: string;
  /** Whether the agent answers with its draft. */
  readonly isDraft: boolean;
  readonly onClose: () => void;
  /** Called with each call that is answered. */
  readonly onCall?: ((callId: string) => void) | undefined;
}

export function TalkDialog(props: TalkDialogProps) {
  const { agentId, agentName, isDraft, onClose, onCall } = props;
  const { phone, state } = usePhone(agentId, isDraft);
  useEffect(() => {
    if (state.callId !== null) onCall?.(state.callId);
  }, [state.callId]);
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
      {state.problem !== null && <PhoneTrouble problem={state.problem} />}
      {window.isAsked && <LeaveQuestion onStay={window.stay} onLeave={window.close} />}
      <div class="phone-parts">
        <Controls
          state={state}
          choice={choice}
          levelDbfs={levelDbfs}
          onMute={(isMuted) => phone.mute(isMuted)}
        />
        <Spoken call={call} />
        {state.status === 'talking' && <Keypad pressed={state.pressed} onKey={press} />}
      </div>
      <div class="actions">
        {state.status === 'ended' && call !== undefined && (
          <LinkButton href={`#/calls/${call.id}`} text={t('phone.record')} />
        )}
        <Button text={t('app.close')} onClick={window.leave} />
        <CallButton
          state={state}
          onCall={() => void phone.call(choice.deviceId)}
          onHangUp={() => phone.hangUp()}
        />
      </div>
    </dialog>
  );
}

/** The phone as the window holds it, from when it opens to when it goes. */
function usePhone(
  agentId: string,
  isDraft: boolean,
): {
  readonly phone: BrowserPhone;
  readonly state: PhoneState;
} {
  const [state, setState] = useState(AT_REST);
  const phone = useMemo(
    () => browserPhone({ agentId, isDraft }, new Audio(), setState),
    [agentId, isDraft],
  );
  useEffect(() => () => phone.hangUp(), [phone]);
  useLeaveQuestion(isBusy(state));
  return { phone, state };
}

/**
 * Finds the call that the server named in its answer: another reader may call the same agent.
 *
 * @param callId null while there is none.
 * @returns undefined until the server has told of the call.
 */
function useOwnCall(callId: string | null): LiveCall | undefined {
  const { live } = useLive(undefined);
  return live.calls.find(({ id }) => id === callId);
}

/** Takes telephone keys from the keyboard, except where they mean something else. */
function typed(event: KeyboardEvent, onKey: (key: string) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target instanceof HTMLSelectElement) return;
  const key = keyOf(event.key);
  if (key !== undefined) onKey(key);
}

/** Problem that prevents a call, and its remedy. */
function PhoneTrouble({ problem }: { readonly problem: PhoneProblem }) {
  const { kind, detail = '' } = problem;
  return (
    <div class="box bad" role="alert">
      <p>
        <strong>{t(`phone.why.${kind}`)}</strong>
      </p>
      <p>{t(`phone.do.${kind}`)}</p>
      {detail !== '' && <p class="small">{detail}</p>}
    </div>
  );
}

/** The keys of the telephone, and the keys pressed so far. */
function Keypad(props: { readonly pressed: string; readonly onKey: (key: string) => void }) {
  return (
    <fieldset class="keypad">
      <legend>{t('phone.keys')}</legend>
      <output class="number keypad-pressed">{props.pressed}</output>
      {KEYS.map((key) => (
        <Button key={key} text={key} onClick={() => props.onKey(key)} />
      ))}
    </fieldset>
  );
}

/** The words are a live region; the seconds are not, since screen readers would read out each of them. */
function PhoneStatusLine({ state }: { readonly state: PhoneState }) {
  const nowMs = useNowMs(state.status === 'talking');
  return (
    <p class="phone-line">
      <span role="status">
        {t(textOf(state))}
        {state.isMuted && state.status !== 'ended' ? ` · ${t('phone.muted')}` : ''}
      </span>
      {state.answeredAtMs !== null && (
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

/**
 * Opens the window; Escape and closing ask while `isBusyNow`, and Escape at the question stays. `close` ends with the dialog's
 * own event, so that the focus goes back to where it was.
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
    // The focused element may have disappeared with the call.
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
    <div class="box busy phone-question" role="alertdialog" aria-labelledby="phone-question">
      <p id="phone-question">{t('phone.leaveQuestion')}</p>
      <div class="actions">
        <button type="button" ref={stay} onClick={props.onStay}>
          {t('phone.stay')}
        </button>
        <Button class="danger" text={t('phone.leave')} onClick={props.onLeave} />
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
  const text = busy ? 'live.hangUp' : state.status === 'idle' ? 'simulate.call' : 'phone.again';
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
      {entries.length === 0 && hearing === '' && <p class="empty">{t('phone.noWords')}</p>}
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
