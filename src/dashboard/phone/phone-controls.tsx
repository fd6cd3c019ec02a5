/** What one does on the phone: calling, hanging up, microphone, mute; and what is said. */
import { t } from '../app-state.ts';
import type { LiveCall } from '../live-state.ts';
import { useFollow } from '../parts/use-follow.ts';
import { Words } from '../parts/words.tsx';
import { LevelMeter } from './level-meter.tsx';
import { type MicrophoneChoice, MicrophoneSelect } from './microphone-select.tsx';
import { isBusy, type PhoneState } from './phone-state.ts';

/** One button, so that the focus stays where it is when a call begins and ends. */
export function CallButton(props: {
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

export function Controls(props: {
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

/** No live region: whoever hears the call would hear every word twice. */
export function Spoken({ call }: { readonly call: LiveCall | undefined }) {
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
