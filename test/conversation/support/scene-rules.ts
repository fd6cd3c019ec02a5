/** The turn machine's rules in a scene. */
import { phrasesFor } from '../../../src/conversation/reply/phrases.ts';
import { DEFAULT_TIMING, type TurnRules } from '../../../src/conversation/turn/turn-rules.ts';
import type { Scene } from './scene.ts';

export function rulesOf(scene: Scene): TurnRules {
  return {
    brief: {
      greeting: scene.greeting,
      systemPrompt: 'You are a receptionist.',
      voice: 'en-US-JennyNeural',
      language: scene.language,
      isInterruptible: scene.isInterruptible,
      silenceTimeoutMs: scene.silenceTimeoutMs,
      maxDurationMs: scene.maxDurationMs,
    },
    phrases: phrasesFor(scene.language),
    timing: DEFAULT_TIMING,
    maySpeculate: scene.maySpeculate,
    turnTrust: scene.turnScores.length > 0 ? 1 : 0,
    country: scene.language.slice(-2),
    isAfterWords: ({ name }) => name === 'end_call' || name === 'transfer_call',
    needsSureWords: ({ name }) => name !== 'look_up',
    startedAt: new Date(0),
  };
}
