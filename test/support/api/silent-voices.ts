/** A catalogue of two voices that say nothing, for tests of the interface. */

import {
  matchingVoices,
  type Voice,
  type VoiceCatalogue,
} from '../../../src/domain/agent/voice-catalogue.ts';
import { ServiceError } from '../../../src/domain/service-error.ts';

const ENGINE = { engine: 'silence', isFallback: true } as const;

const VOICES: readonly Voice[] = [
  {
    ...{ id: 'de-DE-KatjaNeural', locale: 'de-DE', language: 'de', name: 'Katja' },
    ...{ gender: 'female', ...ENGINE },
  },
  {
    ...{ id: 'en-US-JennyNeural', locale: 'en-US', language: 'en', name: 'Jenny' },
    ...{ gender: 'female', ...ENGINE },
  },
];

export function silentVoices(): VoiceCatalogue {
  const find = (voiceId: string) => VOICES.find(({ id }) => id === voiceId);
  return {
    list: (filter) => matchingVoices(VOICES, filter),
    find,
    languages: () => ['de', 'en'],
    preview: async (voiceId) => {
      if (find(voiceId) === undefined) {
        throw new ServiceError('VOICE_NOT_FOUND', 'Cannot find the voice');
      }
      return new Uint8Array(44);
    },
  };
}
