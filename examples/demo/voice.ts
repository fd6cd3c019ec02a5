/** The demo caller's voice: espeak-ng, as the server has it. */
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { espeakEngines } from '../../src/speech/tts/espeak/espeak-engines.ts';
import { chooseSynthesizer } from '../../src/speech/tts/pool/choose-synthesizer.ts';
import { loadVoiceBook } from '../../src/speech/tts/voices/voice-book.ts';

/** Speaks each text; PCM at 8 kHz, mono, in the texts' order. */
export async function speakAll(texts: readonly string[], voice: string): Promise<Int16Array[]> {
  const voices = await loadVoiceBook();
  const engines = espeakEngines({ voices, clock: systemClock, logger: silentLogger });
  const synthesizer = await chooseSynthesizer({ tts: 'auto', engines });
  await synthesizer.start();
  try {
    const spoken: Int16Array[] = [];
    for (const text of texts) {
      const chunks: number[] = [];
      for await (const chunk of synthesizer.speak({ text, voice, language: 'en-US' })) {
        chunks.push(...chunk);
      }
      spoken.push(Int16Array.from(chunks));
    }
    return spoken;
  } finally {
    await synthesizer.stop();
  }
}
