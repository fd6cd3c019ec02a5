/** The phone's window: calls an agent from the page, and shows what is said. */
import './phone.css';
import { useCallback } from 'preact/hooks';
import { t } from '../app-state.ts';
import { ENGINE_JOBS, StandIns } from '../parts/stand-ins.tsx';
import { Keypad } from './keypad.tsx';
import { keyOf } from './keys.ts';
import { LeaveQuestion, useLeaving } from './leaving.tsx';
import { useMicrophoneChoice } from './microphone-select.tsx';
import { CallButton, Controls, Spoken } from './phone-controls.tsx';
import { isBusy } from './phone-state.ts';
import { PhoneStatusLine } from './phone-status-line.tsx';
import { PhoneTrouble } from './phone-trouble.tsx';
import type { TalkDialogProps } from './talk-dialog-props.ts';
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
