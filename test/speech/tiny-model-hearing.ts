/** Speech recognition with our own tiny models, and callers, for the tests of it. */
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { ReceiveRing } from '../../src/media/sound-rings.ts';
import { chooseHearing, type HearingSettings } from '../../src/speech/hearing/choose-hearing.ts';
import type { Hearing, SpeechListener, VoiceEvent } from '../../src/speech/hearing/hearing.ts';
import { whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import { sileroEngine } from '../../src/speech/vad/silero/silero-engine.ts';

/** A hearing with no model installed but our own tiny ones. */
export function hearingWith(
  settings: Partial<HearingSettings> = {},
  recognizers: HearingSettings['engines']['recognizers'] = [whisperEngine],
): Hearing {
  return chooseHearing({
    vad: 'auto',
    stt: 'auto',
    modelsDir: 'nothing-is-here',
    clock: systemClock,
    logger: silentLogger,
    engines: { silero: sileroEngine, recognizers },
    recognizers: 1,
    ...settings,
  });
}

/** A caller whose frames of 20 ms have all arrived by now, the last one just so. */
export function speak(heard: ReceiveRing, pcm: Int16Array): void {
  const lastAtMs = systemClock.nowMs();
  const frames = Math.ceil(pcm.length / 160);
  for (let frame = 0; frame < frames; frame += 1) {
    const atMs = lastAtMs - (frames - 1 - frame) * 20;
    heard.write(pcm.subarray(frame * 160, (frame + 1) * 160), atMs);
  }
}

/** Waits for the next voice event of a kind. */
export function voiceOf(listener: SpeechListener, kind: VoiceEvent['kind']): Promise<VoiceEvent> {
  return new Promise((resolve) => {
    listener.onVoice((event) => {
      if (event.kind === kind) resolve(event);
    });
  });
}
