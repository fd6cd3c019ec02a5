/** One conversation: runs the turn machine's effects and feeds it their results as events. */
import type { PassageSearch } from '../domain/knowledge/knowledge.ts';
import type { Logger } from '../lib/logger.ts';
import {
  type KnowledgeCounts,
  type LanguageModelCounts,
  UNCOUNTED,
} from '../lib/metrics/model-metrics.ts';
import { messageOf } from '../lib/unknown-value.ts';
import type { ChatMessage, LanguageModel, ToolCall } from '../llm/language-model.ts';
import type { AudioEvent, AudioStream } from '../media/audio-stream.ts';
import type { Hearing, SpeechListener } from '../speech/hearing/hearing.ts';
import type { Synthesizer } from '../speech/tts/pool/synthesizer.ts';
import type {
  AcceptanceQuestion,
  CallControl,
  ConversationEvent,
  ConversationSoFar,
} from './conversation-port.ts';
import { Keypad } from './endpointing/keypad.ts';
import { HistoryKeeper } from './history/history-keeper.ts';
import { prefixFor } from './history/prompt.ts';
import { KnowledgeLookup } from './knowledge-lookup.ts';
import { AnswerGivenUp, streamReply } from './reply/llm-stream.ts';
import { acceptanceOf, announcementOf } from './reply/phrases.ts';
import { ReplyVoice } from './reply/reply-voice.ts';
import { CalleeScreening } from './screening/callee-screening.ts';
import { hearAnswer } from './spoken-answer.ts';
import { unplayedMs } from './turn/answering.ts';
import { THIRD_PARTY_RULE } from './turn/third-party.ts';
import { runTool } from './turn/tool-run.ts';
import { TranscriptionRequest } from './turn/transcription-request.ts';
import {
  type TurnEffect,
  type TurnEvent,
  turnEventOfAudio,
  voiceEvent,
} from './turn/turn-event.ts';
import { takeTurnEvent } from './turn/turn-machine.ts';
import { type RuleOptions, rulesFor, TurnTimers } from './turn/turn-rules.ts';
import { openState, type TurnState } from './turn/turn-state.ts';

/** Constructor parameters of `Conversation`. */
export interface ConversationOptions extends Omit<RuleOptions, 'startedAt'> {
  readonly audio: AudioStream;
  /** Owned by the caller of this constructor, who closes it after `stop`. */
  readonly listener: SpeechListener;
  /** Whether `listener` reports voice activity (VAD); otherwise `audio` does. */
  readonly hasVoiceDetector: boolean;
  readonly synthesizer: Synthesizer;
  readonly model: LanguageModel;
  readonly control: CallControl;
  readonly log: Logger;
  readonly onEvent: (event: ConversationEvent) => void;
  readonly counts?: LanguageModelCounts;
  /** Undefined where the agent has no documents. */
  readonly knowledge?: PassageSearch | undefined;
  readonly knowledgeCounts?: KnowledgeCounts;
  /** Listens to transfer targets; without it they answer by keys alone. */
  readonly hearing?: Pick<Hearing, 'open' | 'hasVoiceDetector'>;
  /** The conversation that it continues: the caller is back from a transfer. */
  readonly before?: ConversationSoFar | undefined;
}

/** One call's conversation. `start` it once after the answer, and `stop` it when the call is over. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #timers: TurnTimers;
  readonly #transcription: TranscriptionRequest;
  readonly #history: HistoryKeeper;
  readonly #knowledge: KnowledgeLookup | undefined;
  readonly #keypad: Keypad;
  /** Answering machine detection of an outgoing call. */
  readonly #screening: CalleeScreening | undefined;
  readonly #events: TurnEvent[] = [];
  #state: TurnState;
  #isTurning = false;
  #reply: { readonly id: number; readonly voice: ReplyVoice } | undefined;
  /** Ends the newest request to the model. */
  #request = new AbortController();
  /** Announcement to a transfer target: 8 kHz, mono, chunks of any length. */
  readonly announcement = (summary: string) => announcementOf(summary, this.#options);

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { listener, log, clock, before } = options;
    const { language } = options.brief;
    const tell = (event: TurnEvent) => this.#tell(event);
    this.#history = new HistoryKeeper(options);
    const { knowledge: search, knowledgeCounts: counts = UNCOUNTED } = options;
    this.#knowledge = search && new KnowledgeLookup({ search, clock, log, counts });
    this.#transcription = new TranscriptionRequest({ listener, language, log, tell });
    const onEntry = (count: number) => this.#noteEntry(count);
    this.#keypad = new Keypad({ clock, audio: options.audio, onEntry });
    this.#timers = new TurnTimers({ clock, onRing: (timer) => tell({ kind: 'timer', timer }) });
    const { voicemail } = options.brief;
    // A caller who is back from a transfer is a person.
    if (voicemail !== undefined && before === undefined) {
      const onFault = (error: unknown) => this.#fail(error);
      this.#screening = new CalleeScreening({ ...options, voicemail, language, tell, onFault });
    }
    this.#state = openState(rulesFor({ ...options, startedAt: before?.startedAt }), before);
  }

  /**
   * Says the greeting, or continues with a caller who is back from a transfer, and begins to listen. Call it once, after the
   * call has been answered.
   */
  start(): void {
    const { audio, listener, hasVoiceDetector, before } = this.#options;
    audio.onEvent((event) => this.#hear(event));
    if (hasVoiceDetector) listener.onVoice((event) => this.#tell(voiceEvent(event)));
    if (this.#screening === undefined) {
      this.#tell({ kind: 'started', isReturn: before !== undefined });
    } else {
      this.#screening.start();
    }
    if (before === undefined) this.#history.begin(prefixFor(this.#state.rules));
  }

  /** Asks a transfer target whether it takes the call. */
  acceptance(): AcceptanceQuestion {
    const { hearing, brief, log } = this.#options;
    const { language } = brief;
    return {
      question: acceptanceOf(this.#options),
      hear:
        hearing && ((audio, onAnswer) => hearAnswer({ audio, hearing, language, log }, onAnswer)),
    };
  }

  /** A DTMF digit by SIP INFO; digits in RTP arrive with the audio stream's events. */
  digit(digit: string): void {
    this.#press(digit);
  }

  /** A transfer began or ended; meanwhile the silence timeout is off. */
  transferPending(isUnderWay: boolean): void {
    this.#tell({ kind: 'transfer-pending', isUnderWay });
  }

  /** A third party joined the call (three-way call, conference) or left it. */
  thirdParty(isThere: boolean): void {
    this.#history.keepTo(isThere ? THIRD_PARTY_RULE : undefined);
    this.#tell({ kind: 'third-party', isThere });
  }

  /** Another party has taken the caller's place: the agent greets it. */
  farEndMoved(): void {
    this.#tell({ kind: 'far-end-moved' });
  }

  /** Stops talking and listening, because the call is over. The last words of both sides are reported first. Safe to call twice. */
  stop(): void {
    this.#screening?.stop();
    this.#tell({ kind: 'stopped' });
    this.#history.stop();
  }

  /** State that the next conversation of this call continues from. */
  get soFar(): ConversationSoFar {
    const { history, lastReplyId, turns, rules } = this.#state;
    return { history, lastReplyId, turns, startedAt: rules.startedAt };
  }

  /** Speculative answers that were used (hits) and discarded (misses). */
  get speculationFigures(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#state.speculationHits, misses: this.#state.speculationMisses };
  }

  #hear(event: AudioEvent): void {
    const isVoice = event.kind === 'voice-started' || event.kind === 'voice-stopped';
    if (isVoice && this.#options.hasVoiceDetector) return;
    const turnEvent = turnEventOfAudio(event);
    if (turnEvent?.kind === 'digit') this.#press(turnEvent.digit);
    else if (turnEvent !== undefined) this.#tell(turnEvent);
  }

  #press(digit: string): void {
    if (!this.#keypad.take(digit)) this.#tell({ kind: 'digit', digit });
  }

  /** Notes in the transcript how many keys a tool has taken. */
  #noteEntry(count: number): void {
    const { clock, onEvent } = this.#options;
    const text = `(pressed ${count} keys, not kept)`;
    const at = new Date(clock.nowMs());
    onEvent({ kind: 'said', entry: { role: 'user', text, at, confidence: 1 } });
  }

  /** Handles events one at a time, including those that effects raise synchronously. */
  #tell(event: TurnEvent): void {
    this.#events.push(event);
    if (this.#isTurning) return;
    this.#isTurning = true;
    try {
      for (let next = this.#events.shift(); next; next = this.#events.shift()) {
        this.#take(next);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isTurning = false;
    }
  }

  /** Ends this conversation alone: a fault in it must not reach the other calls of the process. */
  #fail(error: unknown): void {
    this.#options.log.error({ reason: messageOf(error), err: error }, 'conversation broke');
    const wasOver = this.#state.stage === 'over';
    this.#state = { ...this.#state, stage: 'over' };
    this.#events.length = 0;
    this.#timers.cancelAll();
    this.#transcription.cancel();
    this.#reply?.voice.drop();
    if (wasOver) return;
    this.#options.onEvent({ kind: 'ended', end: { kind: 'failed', reason: 'internal error' } });
  }

  #take(event: TurnEvent): void {
    this.#screening?.hear(event);
    const step = takeTurnEvent(this.#state, { ...event, atMs: this.#options.clock.nowMs() });
    this.#state = step.state;
    // The record can wait until the answer is on its way.
    for (const effect of step.effects) if (effect.kind !== 'emit') this.#do(effect);
    for (const effect of step.effects) if (effect.kind === 'emit') this.#do(effect);
  }

  #do(effect: TurnEffect): void {
    const { audio, listener } = this.#options;
    switch (effect.kind) {
      case 'listen':
        listener.beginUtterance(effect.fromMs);
        break;
      case 'stop-listening':
        listener.endUtterance();
        break;
      case 'transcribe':
        void this.#transcription.request(effect.attempt, effect.priority);
        break;
      case 'cancel-transcription':
        this.#transcription.cancel();
        break;
      case 'set-pause-after':
        audio.setPauseAfter(effect.voiceMs);
        break;
      case 'type-ahead':
        this.#keypad.typeAhead(effect.key);
        break;
      case 'set-timer':
        this.#timers.set(effect.timer, effect.delayMs);
        break;
      case 'cancel-timer':
        this.#timers.cancel(effect.timer);
        break;
      case 'emit':
        this.#options.onEvent(effect.event);
        break;
      case 'close':
        this.#timers.cancelAll();
        break;
      default:
        this.#doWithReply(effect);
    }
  }

  #doWithReply(effect: Extract<TurnEffect, { readonly reply: number }>): void {
    const voice = this.#voiceOf(effect.reply);
    switch (effect.kind) {
      case 'ask':
        void this.#ask(effect.reply, effect.messages, voice.signal);
        break;
      case 'voice':
        voice.speak(effect.clause, effect.text);
        break;
      case 'release':
        voice.release();
        break;
      case 'hold':
        voice.hold();
        break;
      case 'finish':
        voice.finish();
        // A model that still answers has been given up: its server is to stop as well.
        this.#request.abort(new AnswerGivenUp());
        break;
      case 'drop':
        voice.drop();
        break;
      case 'resume':
        this.#options.audio.resume(effect.reply);
        break;
      case 'run-tool':
        void this.#runTool(effect.reply, effect.call, voice.signal);
        break;
      default:
        effect satisfies never;
    }
  }

  /** The voice of a reply; the first effect of a reply makes it. */
  #voiceOf(reply: number): ReplyVoice {
    if (this.#reply?.id === reply) return this.#reply.voice;
    const { audio, brief, log, synthesizer } = this.#options;
    const { voice, language, pronunciations } = brief;
    const tell = (event: TurnEvent) => this.#tell(event);
    const spoken = { audio, synthesizer, voice, language, pronunciations };
    const made = new ReplyVoice({ reply, ...spoken, tell, log });
    this.#reply = { id: reply, voice: made };
    return made;
  }

  #ask(reply: number, messages: readonly ChatMessage[], dropped: AbortSignal): Promise<void> {
    const { model, clock, log } = this.#options;
    this.#request = new AbortController();
    const signal = AbortSignal.any([dropped, this.#request.signal]);
    const tools = this.#options.tools.descriptions;
    const tell = (event: TurnEvent) => this.#tell(event);
    const isVoiceDry = () => {
      const current = this.#state.reply;
      return current?.id === reply && unplayedMs(current, clock.nowMs()) === 0;
    };
    const request = { reply, model, messages, tools, signal, tell, isVoiceDry, clock, log };
    return streamReply({ ...request, history: this.#history, knowledge: this.#knowledge });
  }

  #runTool(reply: number, call: ToolCall, signal: AbortSignal): Promise<void> {
    const { announcement } = this;
    const keypad = this.#keypad;
    const tell = (event: TurnEvent) => this.#tell(event);
    return runTool({ ...this.#options, reply, call, signal, keypad, announcement, tell });
  }
}
