/** The microphones to choose from, as they come and go, and choosing one. */
import { useEffect, useState } from 'preact/hooks';
import { complain, t } from '../app-state.ts';
import { SelectField } from '../parts/field.tsx';
import { rememberedMicrophone, rememberMicrophone } from './microphone.ts';
import { chosenOf, type MicrophoneDevice, microphonesOf } from './microphone-choice.ts';
import { PhoneError } from './phone-state.ts';

/** @param isAllowed looks again when it changes: names are told only once a microphone may be used. */
function useMicrophones(isAllowed: boolean): readonly MicrophoneDevice[] {
  const [microphones, setMicrophones] = useState<readonly MicrophoneDevice[]>([]);
  useEffect(() => {
    const devices = navigator.mediaDevices;
    // There are none on a page that is not secure; the call says so.
    if (devices === undefined) return;
    const look = () => {
      devices.enumerateDevices().then(
        (found) => setMicrophones(microphonesOf(found)),
        () => setMicrophones([]),
      );
    };
    look();
    devices.addEventListener('devicechange', look);
    return () => devices.removeEventListener('devicechange', look);
  }, [isAllowed]);
  return microphones;
}

/** The chosen one, what to choose from, and choosing. */
export interface MicrophoneChoice {
  readonly deviceId: string;
  readonly options: readonly (readonly [deviceId: string, label: string])[];
  readonly choose: (deviceId: string) => void;
}

/**
 * @param isAllowed whether a microphone is open: only then browsers tell names.
 * @param change puts the chosen one in the place of one that is open. @throws {PhoneError}
 */
export function useMicrophoneChoice(
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
export function MicrophoneSelect({ choice }: { readonly choice: MicrophoneChoice }) {
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
