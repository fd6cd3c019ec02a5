/** What whoever picks up is told of a caller, before the two are connected. */
import type { Synthesizer } from '../../speech/tts/pool/synthesizer.ts';
import type { ConversationBrief } from '../conversation-port.ts';
import { phrasesFor } from './phrases.ts';

/**
 * Speaks it with the agent's voice: 8 kHz, mono, in chunks of any length.
 *
 * @param summary what the caller wants; without one, only that there is a caller.
 */
export function announcementOf(
  summary: string,
  options: { readonly brief: ConversationBrief; readonly synthesizer: Synthesizer },
): () => AsyncIterable<Int16Array> {
  const { brief, synthesizer } = options;
  const { voice, language, pronunciations = [] } = brief;
  const text = `${phrasesFor(language).announcement} ${summary}`.trim();
  return () => synthesizer.speak({ text, voice, language, pronunciations });
}
