/** Tells somebody who has just picked up what the call is about, before he is put through. */
import type { Clock } from '../../../lib/clock.ts';
import type { AudioEvent, AudioStream } from '../../../media/audio-stream.ts';

/** Whoever picks up says his name first; one who says nothing is spoken to after this. */
const GREETING_MS_MAX = 2_000;

/** The caller waits meanwhile: what takes longer is cut off. */
const ANNOUNCEMENT_MS_MAX = 15_000;

/** The line is new, and this is all that is ever said on it. */
const ONLY_REPLY = 1;

/**
 * Resolves when it has been said.
 *
 * @param words 8 kHz, mono, in chunks of any length.
 * @throws whatever the voice throws.
 */
export async function announce(
  audio: AudioStream,
  words: AsyncIterable<Int16Array>,
  clock: Clock,
): Promise<void> {
  await eventOrLimit(audio, 'voice-stopped', { clock, limitMs: GREETING_MS_MAX });
  const isSaid = eventOrLimit(audio, 'playout-finished', { clock, limitMs: ANNOUNCEMENT_MS_MAX });
  audio.begin(ONLY_REPLY);
  const voice = words[Symbol.asyncIterator]();
  for (;;) {
    // A voice that stalls is waited for no longer than one that talks on.
    const next = await Promise.race([voice.next(), isSaid]);
    if (next === undefined || next.done === true) break;
    audio.say(ONLY_REPLY, next.value);
  }
  audio.finish(ONLY_REPLY);
  await isSaid;
  audio.drop(ONLY_REPLY);
  // Whatever it still has is for nobody; it may be stuck, and fail whenever it likes.
  voice.return?.().catch(() => undefined);
}

function eventOrLimit(
  audio: AudioStream,
  kind: AudioEvent['kind'],
  { clock, limitMs }: { readonly clock: Clock; readonly limitMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    audio.onEvent((event) => {
      if (event.kind !== kind) return;
      cancel();
      resolve();
    });
  });
}
