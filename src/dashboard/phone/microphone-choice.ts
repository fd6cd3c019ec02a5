/** Which microphones there are to choose from, and which of them it is; pure */

export interface MicrophoneDevice {
  readonly deviceId: string;
  /** Empty until the page has been allowed to use a microphone. */
  readonly label: string;
}

interface Device extends MicrophoneDevice {
  readonly kind: string;
}

/** The microphones by name; empty while the browser tells no names, because then it tells no ids either. */
export function microphonesOf(devices: readonly Device[]): readonly MicrophoneDevice[] {
  return devices
    .filter(({ kind, deviceId, label }) => kind === 'audioinput' && deviceId !== '' && label !== '')
    .map(({ deviceId, label }) => ({ deviceId, label }));
}

/** The one chosen before where it is still there, else the browser's own choice: ''. */
export function chosenOf(microphones: readonly MicrophoneDevice[], remembered: string): string {
  return microphones.some(({ deviceId }) => deviceId === remembered) ? remembered : '';
}
