/** Says in the turn machine's terms what the audio stream and the ear report; pure */
import type { AudioEvent } from '../../media/audio-stream.ts';
import type { VoiceEvent } from '../../speech/hearing/hearing.ts';
import type { TurnHappening } from './turn-event.ts';

/** Events that the turn machine has no use for are undefined. */
export function turnEventOfAudio(event: AudioEvent): TurnHappening | undefined {
  switch (event.kind) {
    case 'voice-started':
    case 'voice-stopped':
      return voiceEvent(event);
    case 'playout-started':
      return { kind: event.kind, reply: event.generation, startedAtMs: event.atMs };
    case 'playout-paused':
      return { kind: event.kind, reply: event.generation, playedMs: event.playedMs };
    case 'playout-finished': {
      const { kind, generation, playedMs, isComplete } = event;
      return { kind, reply: generation, playedMs, isComplete };
    }
    case 'digit':
      return { kind: event.kind, digit: event.digit };
    case 'media-lost':
      return { kind: event.kind };
    case 'media-arrived':
    case 'recording-failed':
      return undefined;
    default:
      return event satisfies never;
  }
}

export function voiceEvent(event: VoiceEvent): TurnHappening {
  return event.kind === 'voice-started' ? { kind: event.kind, voicedAtMs: event.atMs } : event;
}
