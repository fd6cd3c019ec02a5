/** Tells somebody who has just picked up what the call is about, before he is put through. */
import type { Clock } from '../../lib/clock.ts';
import type { AudioEvent, AudioStream } from '../../media/audio-stream.ts';

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
  let isOver = false;
  void isSaid.then(() => {
    isOver = true;
  });
  for await (const pcm of words) {
    if (isOver) break;
    audio.say(ONLY_REPLY, pcm);
  }
  audio.finish(ONLY_REPLY);
  await isSaid;
  audio.drop(ONLY_REPLY);
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
