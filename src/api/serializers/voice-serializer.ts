/** Voices as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { Voice } from '../../domain/agent/voice-catalogue.ts';
import type { voiceSchema } from '../schemas/voice-schemas.ts';

/** @param publicUrl base of links, without a slash at its end. */
export function serializeVoice(voice: Voice, publicUrl: string): z.infer<typeof voiceSchema> {
  const { id, locale, language, name, gender, engine, isFallback } = voice;
  const sampleUrl = `${publicUrl}/api/voices/${encodeURIComponent(id)}/preview`;
  return { id, locale, language, name, gender, engine, isFallback, sampleUrl };
}
