/** The browser's microphones: opened when a call is made, never before, and the choice of one. */

import { useEffect, useState } from 'preact/hooks';
import { complain, t } from '../app-state.ts';
import { BROWSER, keep, kept } from '../kept.ts';
import { levelDbfs } from '../meter-board.ts';
import { SelectField } from '../parts/field.tsx';
import { chosenOf, type Microphone, type MicrophoneDevice, microphonesOf } from './phone.ts';
import { PhoneError, problemOfMicrophone } from './phone-state.ts';

const REMEMBERED = 'microphone';

/** Samples that one look at the level sees: 43 ms at 48 kHz. */
const WINDOW_SAMPLES = 2048;

/**
 * Opens a microphone; the browser asks the reader, where it has not yet.
 *
 * @param deviceId '' for the browser's choice.
 * @param onLost called when it was unplugged, or its permission withdrawn.
 * @throws {PhoneError} in words that say what to do.
 */
export async function openMicrophone(
  deviceId: string,
  onLost: () => void,
): Promise<BrowserMicrophone> {
  const track = await openTrack(deviceId);
  return new BrowserMicrophone(track, onLost);
}

async function openTrack(deviceId: string): Promise<MediaStreamTrack> {
  if (!isSecureContext) throw new PhoneError({ kind: 'insecure' });
  if (navigator.mediaDevices === undefined || typeof RTCPeerConnection === 'undefined') {
    throw new PhoneError({ kind: 'unsupported' });
  }
  const audio = {
    echoCancellation: true,
    noiseSuppression: true,
    autoGainControl: true,
    ...(deviceId === '' ? {} : { deviceId: { exact: deviceId } }),
  };
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio });
    const [track] = stream.getAudioTracks();
    if (track === undefined) throw new PhoneError({ kind: 'noMicrophone' });
    return track;
  } catch (error) {
    if (error instanceof PhoneError) throw error;
    throw new PhoneError(problemOfMicrophone(error), { cause: error });
  }
}

export class BrowserMicrophone implements Microphone {
  readonly #onLost: () => void;
  readonly #context = new AudioContext();
  readonly #analyser = new AnalyserNode(this.#context, { fftSize: WINDOW_SAMPLES });
  readonly #samples = new Float32Array(WINDOW_SAMPLES);
  #source: AudioNode | undefined;
  #track: MediaStreamTrack;
  #isMuted = false;
  #onTrack: (track: MediaStreamTrack) => Promise<void> = () => Promise.resolve();

  constructor(track: MediaStreamTrack, onLost: () => void) {
    this.#onLost = onLost;
    this.#track = track;
    this.#listen(track);
    // Some browsers suspend an audio context that was made after a question to the reader.
    this.#context.resume().catch(() => undefined);
  }

  get track(): MediaStreamTrack {
    return this.#track;
  }

  /** Sets the one listener, called when another microphone replaces this one. */
  onTrack(listener: (track: MediaStreamTrack) => Promise<void>): void {
    this.#onTrack = listener;
  }

  mute(isMuted: boolean): void {
    this.#isMuted = isMuted;
    this.#track.enabled = !isMuted;
  }

  levelDbfs(): number {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    return levelDbfs(this.#samples);
  }

  async change(deviceId: string): Promise<void> {
    const before = this.#track;
    const next = await openTrack(deviceId);
    next.enabled = !this.#isMuted;
    this.#track = next;
    this.#listen(next);
    await this.#onTrack(next);
    before.onended = null;
    before.stop();
  }

  stop(): void {
    this.#track.onended = null;
    this.#track.stop();
    this.#source?.disconnect();
    if (this.#context.state !== 'closed') void this.#context.close();
  }

  #listen(track: MediaStreamTrack): void {
    track.onended = () => this.#onLost();
    this.#source?.disconnect();
    this.#source = new MediaStreamAudioSourceNode(this.#context, {
      mediaStream: new MediaStream([track]),
    });
    this.#source.connect(this.#analyser);
  }
}

/** @param isAllowed reads the list again when it changes: browsers give names only once a microphone may be used. */
function useMicrophones(isAllowed: boolean): readonly MicrophoneDevice[] {
  const [microphones, setMicrophones] = useState<readonly MicrophoneDevice[]>([]);
  useEffect(() => {
    const devices = navigator.mediaDevices;
    // A page that is not secure has no media devices; the call reports that.
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

/** The chosen microphone, the options, and the function that chooses one. */
export interface MicrophoneChoice {
  readonly deviceId: string;
  readonly options: readonly (readonly [deviceId: string, label: string])[];
  readonly choose: (deviceId: string) => void;
}

/**
 * @param isAllowed whether a microphone is open: only then browsers give names.
 * @param change replaces an open microphone with the chosen one. @throws {PhoneError}
 */
export function useMicrophoneChoice(
  isAllowed: boolean,
  change: (deviceId: string) => Promise<void>,
): MicrophoneChoice {
  const microphones = useMicrophones(isAllowed);
  const [wanted, setWanted] = useState(() => kept(BROWSER, REMEMBERED) ?? '');
  const choose = (deviceId: string) => {
    const before = wanted;
    setWanted(deviceId);
    change(deviceId).then(
      () => keep(BROWSER, REMEMBERED, deviceId),
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
