/** Dependencies of a call session; the composition root builds them once. */
import type {
  AcceptanceQuestion,
  CallControl,
  ConversationBrief,
  ConversationEvent,
  ConversationSoFar,
  TurnTimes,
} from '../../conversation/conversation-port.ts';
import { phrasesFor } from '../../conversation/reply/phrases.ts';
import type { Account } from '../../domain/account/account.ts';
import type { Agent } from '../../domain/agent/agent.ts';
import { isSayable } from '../../domain/agent/agent-rules.ts';
import { filledIn, type VariableSource } from '../../domain/agent/prompt-variables.ts';
import type { Call, CallStore } from '../../domain/call/call.ts';
import type { CallQualityStore } from '../../domain/call/call-life.ts';
import type { LiveFeed } from '../../domain/call/live-sound.ts';
import type { NewId } from '../../domain/ids.ts';
import type { PassageSearch } from '../../domain/knowledge/knowledge.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics/metrics.ts';
import type { AudioStream } from '../../media/audio-stream.ts';
import type { Leg } from '../../telephony/carrier.ts';
import type { Tool } from '../../tool/tool.ts';
import type { TransferCap } from './transfer-cap.ts';

/** The agent's side of one call: a conversation. */
export interface TalkingParty {
  /** State that the next conversation of this call continues from; complete once this one has stopped. */
  readonly soFar: ConversationSoFar;
  start(): void;
  digit(digit: string): void;
  /** Reports that a third party is being called, or no longer: meanwhile the caller waits. */
  transferPending(isUnderWay: boolean): void;
  /** Reports that a third party joined the call (three-way call) or left it. */
  thirdParty(isThere: boolean): void;
  /** Reports that another party has taken the caller's place. */
  farEndMoved(): void;
  /** Announcement to the transfer target before it is connected: 8 kHz, mono, chunks of any length. */
  announcement(summary: string): () => AsyncIterable<Int16Array>;
  /** Question to the transfer target whether it takes the call. */
  acceptance(): AcceptanceQuestion;
  /** Ends the agent's side: the call is over, or goes on without the agent. Reports the last words heard before it resolves. */
  stop(): Promise<void> | void;
}

/** Parameters that start the agent's side of one call. */
export interface TalkOptions {
  /** Undefined where transfers go by the agent's own settings alone. */
  readonly account: Account | undefined;
  readonly brief: ConversationBrief;
  readonly agent: Agent;
  /** Tools of `CallParts.toolsOf`, as of the call's begin. */
  readonly callTools: readonly Tool[];
  /** Searches the agent's documents; undefined where it has none. */
  readonly knowledge?: PassageSearch | undefined;
  readonly audio: AudioStream;
  readonly control: CallControl;
  readonly log: Logger;
  readonly onEvent: (event: ConversationEvent) => void;
  /** The talk that it continues: the caller is back from a transfer. */
  readonly before?: ConversationSoFar;
}

/** Metrics of calls. */
export interface CallMetrics
  extends Pick<Metrics, 'callStarted' | 'callEnded' | 'callMissed' | 'callRefused' | 'silentLine'>,
    Pick<Metrics, 'recordingFailed' | 'audio' | 'bargeIn' | 'speculation'> {
  turn(times: TurnTimes): void;
}

/** Port that records calls. */
export interface Recordings {
  /**
   * Starts recording the leg.
   *
   * @returns the file's path inside the data folder.
   * @throws {Error} saying why the call cannot be recorded, such as a disk that is nearly full.
   */
  start(callId: string, leg: Leg): string;

  /** Whether any sound of the recording reached the disk; asked when the call is over. */
  hasSound(file: string): boolean;
}

/** Dependencies that all calls share. */
export interface CallParts {
  readonly calls: CallStore;
  readonly qualities: Pick<CallQualityStore, 'save'>;
  /** Interim results for the live view; the record has final words only. */
  readonly live: Pick<LiveFeed, 'hearing'>;
  readonly recordings: Recordings;
  readonly metrics: CallMetrics;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether a number leads to this server: a transfer to it would be a loop. */
  readonly isOwnNumber: (number: string) => Promise<boolean>;
  /** The agent's account; undefined where transfers go by the agent's own settings alone. */
  readonly accountOf: (agent: Agent) => Promise<Account | undefined>;
  /** Tools of one call besides the built-in ones that need its line: the customer's own, `send_sms`, those of a calendar. */
  readonly toolsOf: (agent: Agent, call: Call) => Promise<readonly Tool[]>;
  /** The search of the agent's documents, undefined where it has none. */
  readonly knowledgeOf?: (agent: Agent) => Promise<PassageSearch | undefined>;
  /** Limits transfers; absent in the sandbox, which dials no one. */
  readonly transfers?: TransferCap;
  readonly talk: (options: TalkOptions) => TalkingParty;
}

/** Lays the call's overrides over the agent's configuration, and fills variables in. */
export function briefOf(
  agent: Agent,
  call: Pick<Call, 'overrides' | 'direction'> & VariableSource,
): ConversationBrief {
  const { overrides } = call;
  const language = overrides.language ?? agent.language;
  const greeting = filledIn(overrides.greeting ?? agent.greeting, call);
  const voicemail = overrides.voicemail ?? agent.settings.voicemail;
  return {
    greeting: isSayable(greeting) ? greeting : phrasesFor(language).hello,
    systemPrompt: filledIn(overrides.systemPrompt ?? agent.systemPrompt, call),
    voice: overrides.voice ?? agent.voice,
    language,
    pronunciations: agent.settings.pronunciations,
    isInterruptible: agent.settings.interruptible,
    responsiveness: agent.responsiveness,
    silenceTimeoutMs: agent.settings.silenceTimeoutSeconds * 1000,
    maxDurationMs: (overrides.maxDurationSeconds ?? agent.settings.maxDurationSeconds) * 1000,
    ...(call.direction === 'outbound' && {
      voicemail: {
        action: voicemail.action,
        message: voicemail.message === null ? null : filledIn(voicemail.message, call),
      },
    }),
  };
}
