/** The microphones to choose from, as they come and go. */
import { useEffect, useState } from 'preact/hooks';
import { type MicrophoneDevice, microphonesOf } from './microphone-choice.ts';

/** @param isAllowed looks again when it changes: names are told only once a microphone may be used. */
export function useMicrophones(isAllowed: boolean): readonly MicrophoneDevice[] {
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
