/** A voice detector for tests that takes what is loud for a voice, and breaks at full scale. */
import type { SpeechEngine } from '../../src/speech/models/model-files.ts';
import type { DetectorStream, Vad } from '../../src/speech/vad/vad-track.ts';

/** How many calls each run scored. */
export const batchSizes: number[] = [];

export const loudEngine: SpeechEngine = {
  name: 'silero',
  moduleUrl: import.meta.url,
  find: () => ['loud'],
};

export async function openVoiceDetector(): Promise<Vad> {
  return {
    rateHz: 8000,
    windowSamples: 256,
    open: (): DetectorStream => ({ reset: () => undefined }),
    score: async (windows) => {
      batchSizes.push(windows.length);
      return windows.map(({ pcm }) => scoreOf(pcm));
    },
    close: async () => undefined,
  };
}

function scoreOf(pcm: Float32Array): number {
  const peak = Math.max(...pcm);
  if (peak > 0.99) throw new Error('broken by the test');
  return peak > 0.1 ? 1 : 0;
}
