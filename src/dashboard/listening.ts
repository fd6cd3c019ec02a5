/** Lets a call that goes on be heard: its sound comes over `fetch`, and goes to the loudspeaker piece by piece. */
import type { ApiClient } from './api-client.ts';
import { SoundSchedule, type StereoSound, WavStreamReader } from './wav-stream.ts';

const CALL_RATE_HZ = 8000;

/** Time without data after which the connection is dead: silence is sent as sound. */
const SILENT_MS_MAX = 15_000;

/**
 * Resolves when the call, or `signal`, ends it. Call it from a click: browsers let no page begin to sound by itself.
 *
 * @throws {ApiError} when the server gives no sound.
 */
export async function listenIn(
  client: ApiClient,
  callId: string,
  listener: { readonly onHeard: () => void },
  signal: AbortSignal,
): Promise<void> {
  // At the rate of the call, so that pieces meet without a seam: the browser converts the whole, and not each.
  const speaker = new AudioContext({ sampleRate: CALL_RATE_HZ });
  try {
    const response = await client.open(`api/live/calls/${callId}/audio`, { signal });
    await play(response, speaker, listener.onHeard, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await speaker.close();
  }
}

async function play(
  response: Response,
  speaker: AudioContext,
  onHeard: () => void,
  signal: AbortSignal,
): Promise<void> {
  const pieces = response.body?.getReader();
  if (pieces === undefined) return;
  const wav = new WavStreamReader();
  const schedule = new SoundSchedule();
  while (!signal.aborted) {
    const timer = setTimeout(() => void pieces.cancel(), SILENT_MS_MAX);
    const { done, value } = await pieces.read().finally(() => clearTimeout(timer));
    if (done) return;
    const sound = wav.push(value);
    if (sound.caller.length === 0) continue;
    sayTo(speaker, sound, schedule, wav.rateHz ?? CALL_RATE_HZ);
    onHeard();
  }
  await pieces.cancel();
}

/** The caller to the left ear, the agent to the right, as in the recording. */
function sayTo(
  speaker: AudioContext,
  { caller, agent }: StereoSound,
  schedule: SoundSchedule,
  rateHz: number,
): void {
  const startsAt = schedule.place(speaker.currentTime, caller.length / rateHz);
  if (startsAt === undefined) return;
  const buffer = speaker.createBuffer(2, caller.length, rateHz);
  buffer.copyToChannel(caller, 0);
  buffer.copyToChannel(agent, 1);
  const source = speaker.createBufferSource();
  source.buffer = buffer;
  source.connect(speaker.destination);
  source.start(startsAt);
}
