/** One answered call until its release: ties conversation, SIP leg and record together. */
import type {
  ConversationEnd,
  ConversationEvent,
  ConversationFailure,
  ConversationSoFar,
} from '../../conversation/conversation-port.ts';
import type { Agent, Scope } from '../../domain/agent/agent.ts';
import type { TransferManner } from '../../domain/agent/transfer-rules.ts';
import type { Call, EndReason, TranscriptEntry } from '../../domain/call/call.ts';
import { answered, ended, type Failure } from '../../domain/call/call-life.ts';
import type { TransferStart } from '../../domain/call/live-sound.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AudioStats, AudioStream, RecordingFailure } from '../../media/audio-stream.ts';
import type { Leg, ReleaseCause } from '../../telephony/carrier.ts';
import type { CallInProgress, LiveCall } from '../call-registry.ts';
import { lineClosed } from '../live-calls.ts';
import { CallJournal } from './call-journal.ts';
import { briefOf, type CallParts, type TalkingParty } from './call-parts.ts';
import { countPackets, qualityOf } from './call-quality.ts';
import { CallClock } from './call-tracing.ts';
import {
  bridgeEndOf,
  endReasonOfConversation,
  endReasonOfRelease,
  failureBecause,
} from './end-reason.ts';
import { SessionControl } from './session-control.ts';
import { SessionRecording, SessionTimeline } from './session-timeline.ts';

type ConversationEventOf<Kind> = Extract<ConversationEvent, { readonly kind: Kind }>;

/** A call that was answered; `run` holds it until it is over. */
export class CallSession implements LiveCall, CallInProgress {
  readonly callId: string;
  readonly scope: Scope;
  readonly #parts: CallParts & { readonly clock: CallClock };
  readonly #agent: Agent;
  readonly #leg: Leg;
  readonly #journal: CallJournal;
  readonly #timeline: SessionTimeline;
  readonly #recording: SessionRecording;
  readonly #control: SessionControl;
  readonly #log: Logger;
  #call: Call;
  #party: TalkingParty | undefined;
  #talkStopped: Promise<void> | undefined;
  #reason: EndReason | undefined;
  /** Why it failed, where it did and that is known. */
  #failure: Failure | undefined;
  #hungUpAt: Date | undefined;
  #answeredAtMs = 0;
  #isReleased = false;
  /** Whether the caller and another party talk on without the agent. */
  #hasAgentLeft = false;
  #isTooLong = false;
  /** Takes the timer of the longest duration back. */
  #cancelLimit: () => void = () => undefined;
  readonly #over = Promise.withResolvers<void>();

  constructor(options: {
    readonly parts: CallParts;
    readonly agent: Agent;
    readonly call: Call;
    readonly leg: Leg;
  }) {
    const { agent, leg } = options;
    const { id: callId, accountId, environment, startedAt, createdAt } = options.call;
    const clock = new CallClock(options.parts.clock, startedAt ?? createdAt);
    const parts = { ...options.parts, clock };
    const { calls, metrics, recordings } = parts;
    const log = parts.log.child({ callId });
    this.callId = callId;
    this.scope = { accountId, environment };
    this.#parts = parts;
    this.#agent = agent;
    this.#leg = leg;
    this.#call = options.call;
    this.#log = log;
    const journal = new CallJournal({ clock, log });
    const timeline = new SessionTimeline({ callId, calls, clock, journal });
    this.#journal = journal;
    this.#timeline = timeline;
    this.#recording = new SessionRecording({ recordings, metrics, timeline, log });
    const [call, party] = [() => this.#call, () => this.#party];
    const onAgentLeft = () => this.#agentLeft();
    const onReturn = () => void this.#callerIsBack();
    const { afterTransfer, transferAcceptance: asksAcceptance } = agent.settings;
    const rules = { asksAcceptance, doesReturn: afterTransfer === 'return' };
    const shown = { call, party, onAgentLeft, onReturn };
    const told = { parts, agent, leg, journal, timeline, log };
    this.#control = new SessionControl({ ...told, ...rules, ...shown });
  }

  get audio(): AudioStream {
    return this.#leg.audio;
  }

  get inProgress(): CallInProgress | undefined {
    return this.#isReleased ? undefined : this;
  }

  /**
   * Puts the answer on record and lets the agent speak. Resolves when the call is over and on record; without
   * a voice for the agent it is over at once.
   */
  async run(): Promise<void> {
    this.#putAnswerOnRecord();
    try {
      await this.#startTalk();
    } catch (error) {
      this.#cannotTalk(error);
    }
    // Last, because it is called at once when the caller is gone already.
    this.#leg.onReleased((cause) => this.#release(cause));
    return this.#over.promise;
  }

  /** Begins to end the call because a customer asked for it. */
  hangUp(): void {
    this.#reason ??= 'agent_hangup';
    this.#hangUp();
  }

  transfer(number: string, manner: TransferManner): TransferStart {
    if (this.#isReleased || this.#hungUpAt !== undefined) return 'not-in-progress';
    return this.#control.beginTransfer(number, manner);
  }

  /** Ends the call from our side, such as at a shutdown. */
  async end(reason: string): Promise<void> {
    this.#log.warn({ reason }, 'call ended by the server');
    this.#reason ??= 'error';
    this.#failure ??= failureBecause(`The server ended the call: ${reason}.`);
    this.#hungUpAt ??= this.#parts.clock.now();
    await this.#leg.hangUp();
    await this.#over.promise;
  }

  #putAnswerOnRecord(): void {
    const { clock, calls, metrics, newId } = this.#parts;
    this.#answeredAtMs = clock.nowMs();
    const recordingFile = this.#recording.start(this.callId, this.#leg);
    const { price = null } = this.#leg;
    const facts = { now: clock.now(), recordingFile, price, eventId: newId('evt') };
    const change = answered(this.#call, facts);
    this.#call = change.call;
    this.#journal.write(() => calls.update(change.call, change.events));
    this.#timeline.answered(change.call);
    this.#recording.answered();
    metrics.callStarted(this.#call.direction);
    this.#log.info(
      { agentId: change.call.agentId, direction: change.call.direction },
      'call answered',
    );
  }

  /** Not where the call was ended while the account was read. */
  async #startTalk(): Promise<void> {
    this.#leg.audio.onEvent((event) => {
      if (event.kind === 'recording-failed') this.#recordingFailed(event);
      if (event.kind === 'digit' && !this.#hasAgentLeft) this.#timeline.key();
    });
    this.#leg.onDigit((digit) => {
      this.#timeline.key();
      this.#party?.digit(digit);
    });
    await this.#talk();
  }

  /** @param before the talk that this one continues. */
  async #talk(before?: ConversationSoFar): Promise<void> {
    const [account, callTools, knowledge] = await Promise.all([
      this.#parts.accountOf(this.#agent),
      this.#parts.toolsOf(this.#agent, this.#call),
      this.#parts.knowledgeOf?.(this.#agent),
    ]);
    if (this.#hungUpAt !== undefined || this.#isReleased || this.#hasAgentLeft) return;
    // Another party may have come and gone meanwhile, so that two talks are about to begin.
    if (this.#party !== undefined && this.#talkStopped === undefined) return;
    this.#talkStopped = undefined;
    const brief = briefOf(this.#agent, this.#call);
    this.#party = this.#parts.talk({
      brief: before === undefined ? brief : { ...brief, maxDurationMs: this.#remainingMs() },
      agent: this.#agent,
      account,
      callTools,
      knowledge,
      audio: this.#leg.audio,
      control: this.#control.ofAgent,
      log: this.#log,
      onEvent: (event) => this.#onConversation(event),
      ...(before && { before }),
    });
    this.#party.start();
  }

  #cannotTalk(error: unknown): void {
    this.#log.error({ err: error }, 'the agent cannot speak');
    this.#reason = 'error';
    this.#failure = failureBecause('No conversation could begin.');
    this.#hangUp();
  }

  #recordingFailed(failure: RecordingFailure): void {
    this.#recording.failed(failure);
    const call = { ...this.#call, ...this.#recording.kept() };
    this.#call = call;
    this.#journal.write(() => this.#parts.calls.update(call, []));
  }

  #onConversation(event: ConversationEvent): void {
    const { metrics } = this.#parts;
    switch (event.kind) {
      case 'said':
        this.#said(event.entry);
        break;
      case 'turn':
        this.#timeline.turn(event.times);
        // The times of a turn by telephone keys do not measure how soon speech is answered.
        if (event.times.keyed !== true) metrics.turn(event.times);
        break;
      case 'barge-in':
        this.#timeline.add('barge_in');
        metrics.bargeIn();
        break;
      case 'answered-by':
        this.#answeredBy(event);
        break;
      case 'speculation':
        metrics.speculation(event.outcome);
        break;
      case 'hearing':
        this.#parts.live.hearing(this.callId, event.text);
        break;
      case 'knowledge':
        this.#timeline.add('knowledge', { sources: event.sources });
        break;
      case 'tool':
        this.#timeline.tool(event);
        break;
      case 'ended':
        if (event.end.kind === 'failed') this.#conversationFailed(event.end);
        this.#endAgent(event.end);
        break;
      default:
        event satisfies never;
    }
  }

  #answeredBy({ answeredBy, sign, afterMs }: ConversationEventOf<'answered-by'>): void {
    const call = { ...this.#call, answeredBy };
    this.#call = call;
    this.#journal.write(() => this.#parts.calls.update(call, []));
    this.#timeline.add('answered_by', { answeredBy, sign, afterMs: Math.round(afterMs) });
    this.#log.info({ answeredBy, sign }, 'answering machine detection');
  }

  /** A conversation tells instants of the process's time, which leaves the calendar whenever that is set. */
  #said(entry: TranscriptEntry): void {
    const { calls, clock } = this.#parts;
    const said = { ...entry, at: clock.dateOf(entry.at.getTime()) };
    this.#journal.write(() => calls.addTranscriptEntry(this.callId, said));
  }

  /** A caller's network that drops out is no fault of the server: it is counted, not logged as one. */
  #conversationFailed({ reason, isSilentLine = false }: ConversationFailure): void {
    if (isSilentLine) this.#parts.metrics.silentLine();
    this.#failure ??= failureBecause(`The conversation could not go on: ${reason}.`);
    this.#log[isSilentLine ? 'info' : 'error']({ reason }, 'conversation failed');
  }

  /** The maximum duration ends the call; any other end of the agent leaves caller and third party connected. */
  #endAgent(end: ConversationEnd): void {
    const hangUp = () => {
      this.#reason ??= endReasonOfConversation(end);
      this.#hangUp();
    };
    if (end.kind === 'timeout' && end.cause === 'max-duration') hangUp();
    else this.#control.end(hangUp);
  }

  /** The agent has left: the other two parties talk on, until one of them hangs up or the longest duration is over. */
  #agentLeft(): void {
    this.#hasAgentLeft = true;
    this.#reason ??= 'transferred';
    void this.#stopTalk();
    if (this.#isReleased) return;
    this.#cancelLimit = this.#parts.clock.after(this.#remainingMs(), () => {
      this.#isTooLong = true;
      this.#hangUp();
    });
  }

  /** Time left of the longest duration, which counts from the answer. */
  #remainingMs(): number {
    const { maxDurationMs } = briefOf(this.#agent, this.#call);
    return Math.max(0, this.#answeredAtMs + maxDurationMs - this.#parts.clock.nowMs());
  }

  /** The third party has hung up: the agent continues with the caller. */
  async #callerIsBack(): Promise<void> {
    if (this.#isReleased || this.#hungUpAt !== undefined) return;
    this.#hasAgentLeft = false;
    this.#reason = undefined;
    this.#cancelLimit();
    try {
      await this.#talkStopped;
      await this.#talk(this.#party?.soFar);
    } catch (error) {
      this.#cannotTalk(error);
    }
  }

  /** The end on record is when we hung up, however long the far end takes to say that it has understood. */
  #hangUp(): void {
    this.#hungUpAt ??= this.#parts.clock.now();
    this.#leg.hangUp().catch((error: unknown) => {
      this.#log.warn({ err: error }, 'BYE was not answered');
    });
    // The agent stops talking before the far end answers our BYE.
    void this.#stopTalk();
  }

  /** The leg is gone: stops talking (which puts the last words on record), then ends the record. */
  #release(cause: ReleaseCause): void {
    this.#isReleased = true;
    this.#cancelLimit();
    if (this.#hasAgentLeft) {
      const reason = this.#isTooLong ? 'the longest duration is over' : bridgeEndOf(cause);
      this.#timeline.add('bridge_ended', { reason });
    }
    if (cause.kind === 'broken') {
      this.#failure ??= failureBecause(`The line was lost: ${cause.reason}.`);
    }
    this.#finish(this.#reason ?? endReasonOfRelease(cause)).then(
      () => this.#over.resolve(),
      (error: unknown) => {
        this.#log.error({ err: error }, 'call could not be ended cleanly');
        this.#over.resolve();
      },
    );
  }

  async #finish(reason: EndReason): Promise<void> {
    const { calls, clock, metrics, newId } = this.#parts;
    const endedAt = this.#timeline.ends(this.#hungUpAt ?? clock.now());
    countPackets(this.#leg.audio, { onStats: (stats) => this.#count(stats), log: this.#log });
    await this.#stopTalk();
    await lineClosed(this.#leg, clock);
    const failure = this.#failure;
    const facts = { endedAt, eventAt: clock.now(), reason, failure, eventId: newId('evt') };
    const change = ended({ ...this.#call, ...this.#recording.kept() }, facts);
    this.#call = change.call;
    this.#journal.write(() => calls.update(change.call, change.events));
    this.#timeline.ended(change.call);
    metrics.callEnded(change.call.direction, reason, change.call.durationSeconds);
    const isWritten = await this.#journal.drained();
    if (!isWritten) this.#log.error({}, 'call record not written, the database refuses');
    this.#log.info(
      { endReason: reason, durationSeconds: change.call.durationSeconds },
      'call over',
    );
  }

  #count(stats: AudioStats): void {
    const { metrics, qualities } = this.#parts;
    metrics.audio(stats);
    const quality = qualityOf(stats);
    if (quality !== undefined) this.#journal.write(() => qualities.save(this.callId, quality));
  }

  /** Once, and never rejects: a talk that cannot be stopped must not keep the call from ending. */
  #stopTalk(): Promise<void> {
    this.#talkStopped ??= Promise.resolve()
      .then(() => this.#party?.stop())
      .catch((error: unknown) => {
        this.#log.error({ err: error }, 'the talk could not be stopped');
      });
    return this.#talkStopped;
  }
}
