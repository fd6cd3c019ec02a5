/** Analyses ended calls and sends `call.transcribed`, also when the language model fails. */
import type { Environment } from '../../domain/account/account.ts';
import type { Agent, AgentStore } from '../../domain/agent/agent.ts';
import type {
  AnalysisJob,
  AnalysisStore,
  Call,
  CallAnalysis,
  CallStore,
  TranscriptEntry,
} from '../../domain/call/call.ts';
import { callTranscribedEvent } from '../../domain/call/call-events.ts';
import type { NewId } from '../../domain/ids.ts';
import { StoreError } from '../../domain/service-error.ts';
import type { EventStore, ServiceEvent } from '../../domain/webhook/service-event.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AnalysisResult } from '../../lib/metrics/model-metrics.ts';
import { Repeater } from '../../lib/repeater.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import { analysisOfSilence, plainAnalysis } from './analysis-fallback.ts';
import { askForAnalysis, intentsToChooseFrom } from './analysis-request.ts';
import { type ExtractionOutcome, extract, NO_EXTRACTION } from './extraction-request.ts';

/** Each is one request to a model that also has calls in progress to answer. */
const ASKING_MAX = 4;

/** Interval at which waiting calls are checked: for retries, deadlines, and a database that takes writes again. */
const LOOK_MS = 1000;

/** A mistake of ours will not be gone in a second. */
const MISTAKE_REST_MS = 60_000;

/** Longest pass without a pause for the conversations on this thread. */
const LOOK_MS_MAX = 5;

/** Jobs of one look; more stay where they are until the next. */
const JOBS_MAX = 200;

/** Seen labels offered to the model, besides the default ones. */
const SEEN_INTENTS_MAX = 24;

/** An analysis that is only to be saved. */
interface Finding {
  readonly analysis: CallAnalysis;
  readonly by: AnalysisResult;
  /** Undefined for an analysis without the language model. */
  readonly extraction?: ExtractionOutcome;
  /** Whether the timeline tells it already. */
  isOnTimeline: boolean;
}

/** Analyses the ended calls of one environment. One analyst an environment and database, or events go out twice. */
export class Analyst {
  readonly #parts: AnalystParts;
  readonly #asking = new Map<string, Promise<void>>();
  /** Findings that the database did not take, by call. A process that dies loses them and asks again. */
  readonly #unsaved = new Map<string, Finding>();
  /** Jobs that wait after an error, each with the function that cancels its timer. */
  readonly #resting = new Map<string, () => void>();
  /** Calls that wait to be asked about, and whose transcript need not be read again for that: not all is silence. */
  readonly #spoken = new Set<string>();
  readonly #end = new AbortController();
  #startedAtMs = 0;
  readonly #looks: Repeater;
  #unlisten: (() => void) | undefined;

  constructor(parts: AnalystParts) {
    this.#parts = parts;
    this.#looks = new Repeater({ clock: parts.clock, run: () => this.#look() });
  }

  /** Resumes the jobs that the previous process left. Safe to call twice. */
  start(): void {
    if (this.#unlisten !== undefined) return;
    this.#startedAtMs = this.#parts.clock.now().getTime();
    this.#unlisten = this.#parts.analyses.notifier.listen(() => this.#looks.ask());
    this.#looks.ask();
  }

  /** Cancels running analyses; their jobs stay in the database for the next start. Safe to call twice. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the server stops'));
    this.#unlisten?.();
    for (const wake of this.#resting.values()) wake();
    await this.#looks.stop();
    await Promise.all(this.#asking.values());
  }

  /** Starts the jobs that can start now. Never rejects. @returns when to look again, in milliseconds. */
  async #look(): Promise<number | undefined> {
    const { analyses, environment, log } = this.#parts;
    try {
      if (!(await this.#takeJobs())) return 0;
      return (await analyses.isAnyWaiting(environment)) ? LOOK_MS : undefined;
    } catch (error) {
      log.warn({ err: error }, 'ended calls cannot be analysed now, will retry');
      return LOOK_MS;
    }
  }

  /** @returns whether it came to the end of them. */
  async #takeJobs(): Promise<boolean> {
    const { analyses, environment, clock } = this.#parts;
    const jobs = await analyses.due(environment, clock.now(), JOBS_MAX);
    const untilMs = clock.nowMs() + LOOK_MS_MAX;
    for (const job of jobs) {
      if (this.#asking.has(job.callId) || this.#resting.has(job.callId)) continue;
      if (clock.nowMs() >= untilMs) return false;
      await this.#takeJob(job);
    }
    return true;
  }

  async #takeJob(job: AnalysisJob): Promise<void> {
    try {
      const finding = this.#unsaved.get(job.callId) ?? (await this.#findingWithoutModel(job));
      if (finding !== undefined) await this.#save(job, finding);
      else if (this.#asking.size < ASKING_MAX) this.#ask(job);
    } catch (error) {
      // Every further write would wait for the same lock, on the thread that holds the conversations.
      if (error instanceof StoreError) throw error;
      this.#rest(job, error);
    }
  }

  /** Analysis without the model: of silence, and of a call that is past its deadline. */
  async #findingWithoutModel(job: AnalysisJob): Promise<Finding | undefined> {
    const isLate = this.#remainingMs(job) <= 0;
    if (!isLate && this.#spoken.has(job.callId)) return undefined;
    const transcript = await this.#parts.calls.transcript(job.callId);
    const silence = analysisOfSilence(transcript);
    if (silence !== undefined) return { analysis: silence, by: 'empty', isOnTimeline: false };
    if (isLate) return this.#plain(job, transcript);
    // Full of calls that were taken away unasked; the others are read once more.
    if (this.#spoken.size >= JOBS_MAX) this.#spoken.clear();
    this.#spoken.add(job.callId);
    return undefined;
  }

  async #plain(job: AnalysisJob, transcript: readonly TranscriptEntry[]): Promise<Finding> {
    const analysis = plainAnalysis(transcript, await this.#languageOf(await this.#callOf(job)));
    return { analysis, by: 'lexicon', isOnTimeline: false };
  }

  #ask(job: AnalysisJob): void {
    this.#spoken.delete(job.callId);
    const asking = this.#answerOf(job).finally(() => {
      this.#asking.delete(job.callId);
      this.#looks.ask();
    });
    this.#asking.set(job.callId, asking);
  }

  /** Never rejects: after an error the job waits for its next try. */
  async #answerOf(job: AnalysisJob): Promise<void> {
    try {
      const finding = await this.#findOut(job);
      // Erased meanwhile, and its job with it.
      if ((await this.#parts.calls.findById(job.callId)) === undefined) return;
      if (finding instanceof Error) await this.#putOff(job, finding);
      else await this.#save(job, finding);
    } catch (error) {
      this.#rest(job, error);
    }
  }

  /** @returns why not, when the model gave no analysis. */
  async #findOut(job: AnalysisJob): Promise<Finding | Error> {
    const { clock, calls, analyses } = this.#parts;
    const call = await this.#callOf(job);
    const agent = await this.#parts.agents.find(call, call.agentId);
    const model = this.#parts.modelOf(agent);
    const question = {
      transcript: await calls.transcript(call.id),
      intents: intentsToChooseFrom(await analyses.intentsOf(call.agentId, SEEN_INTENTS_MAX)),
      language: call.overrides.language ?? agent?.language,
      signal: this.#end.signal,
      remainingMs: () => this.#remainingMs(job),
    };
    try {
      const analysis = await askForAnalysis({ model, clock }, question);
      const wanted = agent ?? { extract: null, successCriteria: null };
      // Simulated calls are analysed by rules; in a live one their values would be taken for the caller's.
      const needsReading = this.#parts.environment === 'live';
      const extraction = await extract({ model, clock }, { ...question, wanted, needsReading });
      return { analysis, by: 'model', extraction, isOnTimeline: false };
    } catch (error) {
      return new Error('no analysis from the language model', { cause: error });
    }
  }

  /** Schedules another try after a failed one, or analyses the call without the model. */
  async #putOff(job: AnalysisJob, why: Error): Promise<void> {
    if (this.#end.signal.aborted) return;
    const { analyses, clock, log, calls } = this.#parts;
    const waitMs = retryWaitMs(job);
    const willRetry = waitMs !== undefined && waitMs < this.#remainingMs(job);
    const facts = { callId: job.callId, failedTries: job.attempts + 1, willRetry, err: why };
    log.warn(facts, 'call could not be analysed by the language model');
    if (willRetry) await analyses.retryAt(job.callId, new Date(clock.now().getTime() + waitMs));
    else await this.#save(job, await this.#plain(job, await calls.transcript(job.callId)));
  }

  /** Leaves a job alone for a while, so that one that cannot be done does not keep the processor from all else. */
  #rest(job: AnalysisJob, error: unknown): void {
    const { clock, log } = this.#parts;
    const isWorld = error instanceof StoreError;
    if (isWorld) log.warn({ callId: job.callId, err: error }, 'analysis waits for the database');
    else log.error({ callId: job.callId, err: error }, 'call cannot be analysed');
    const restMs = isWorld ? LOOK_MS : MISTAKE_REST_MS;
    this.#resting.get(job.callId)?.();
    const wake = clock.after(restMs, () => this.#resting.delete(job.callId));
    this.#resting.set(job.callId, wake);
  }

  /**
   * Saves analysis and event together.
   *
   * @throws {StoreError} when the database refuses; the finding is kept for the next look.
   */
  async #save(job: AnalysisJob, finding: Finding): Promise<void> {
    const { analyses, clock, log, metrics } = this.#parts;
    this.#spoken.delete(job.callId);
    if (this.#unsaved.size < JOBS_MAX) this.#unsaved.set(job.callId, finding);
    await this.#putOnTimeline(job, finding);
    // The call is read right before the write, so that other changes made meanwhile are kept.
    const { extracted, success } = finding.extraction ?? NO_EXTRACTION;
    const call = { ...(await this.#callOf(job)), ...finding.analysis, extracted, success };
    await analyses.finish(call, [await this.#eventOf(call)]);
    this.#unsaved.delete(job.callId);
    const sinceEndMs = Math.max(0, clock.now().getTime() - job.endedAt.getTime());
    metrics.analysed(finding.by, sinceEndMs);
    log.info({ callId: job.callId, by: finding.by, sinceEndMs }, 'call analysed');
  }

  async #putOnTimeline(job: AnalysisJob, finding: Finding): Promise<void> {
    if (finding.isOnTimeline) return;
    const { calls, clock } = this.#parts;
    const problem = finding.extraction?.problem;
    const notExtracted = problem === undefined ? {} : { notExtracted: problem };
    const details = { by: finding.by, failedTries: job.attempts, ...notExtracted };
    // A simulated call ends ahead of the clock on the wall, and its analysis comes after its end.
    const at = new Date(Math.max(clock.now().getTime(), job.endedAt.getTime()));
    await calls.addTimelineEntry(job.callId, { at, kind: 'analysis', details });
    finding.isOnTimeline = true;
  }

  async #eventOf(call: Call): Promise<ServiceEvent> {
    const { calls, clock, events, newId, recordingLink } = this.#parts;
    const now = clock.now();
    const recordingUrl = call.recordingFile === null ? '' : recordingLink(call.id, now);
    const [transcript, told] = [await calls.transcript(call.id), await events.listByCall(call.id)];
    return transcribedEvent(call, { transcript, told, recordingUrl, now, eventId: newId('evt') });
  }

  async #callOf({ callId }: AnalysisJob): Promise<Call> {
    const call = await this.#parts.calls.findById(callId);
    if (call === undefined) throw new Error(`Cannot analyse call "${callId}": there is none`);
    return call;
  }

  /** Undefined when the agent is gone. */
  async #languageOf(call: Call): Promise<string | undefined> {
    return call.overrides.language ?? (await this.#parts.agents.find(call, call.agentId))?.language;
  }

  #remainingMs(job: AnalysisJob): number {
    return deadlineMs(job, this.#startedAtMs) - this.#parts.clock.now().getTime();
  }
}

/** Waits after the first and the second failed try; there is no fourth try. */
const RETRY_WAITS_MS = [2000, 5000] as const;

/** Time limit after a call's end: the contract has 30 s, and the event has still to be written and sent. */
const DEADLINE_MS = 27_000;

/** A call that ended before this process started has its one try in this time. */
const DEADLINE_AFTER_START_MS = 10_000;

/** How long to wait after one more failed try, in milliseconds; undefined when there is no further one. */
export function retryWaitMs({ attempts }: AnalysisJob): number | undefined {
  return RETRY_WAITS_MS[attempts];
}

/** Until when the language model may be asked, in milliseconds since 1970. */
export function deadlineMs({ endedAt }: AnalysisJob, startedAtMs: number): number {
  return Math.max(endedAt.getTime() + DEADLINE_MS, startedAtMs + DEADLINE_AFTER_START_MS);
}

/** Dependencies of an analyst: ports and parts that the composition root fills in. */
interface AnalystParts {
  readonly environment: Environment;
  /** @param agent undefined where it is gone. */
  readonly modelOf: (agent: Agent | undefined) => LanguageModel;
  readonly analyses: AnalysisStore;
  readonly calls: Pick<CallStore, 'findById' | 'transcript' | 'addTimelineEntry'>;
  readonly events: Pick<EventStore, 'listByCall'>;
  readonly agents: Pick<AgentStore, 'find'>;
  /** Makes the link that goes into the event. */
  readonly recordingLink: (callId: string, now: Date) => string;
  readonly metrics: { analysed(result: AnalysisResult, sinceEndMs: number): void };
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Makes `call.transcribed`, created after every event of the call: the times of a simulated call run ahead of the clock.
 *
 * @param facts.told the events of the call so far.
 * @param facts.recordingUrl empty where there is no recording.
 */
export function transcribedEvent(
  call: Call,
  facts: {
    readonly transcript: readonly TranscriptEntry[];
    readonly told: readonly ServiceEvent[];
    readonly recordingUrl: string;
    readonly now: Date;
    readonly eventId: string;
  },
): ServiceEvent {
  const { transcript, recordingUrl, told, now, eventId } = facts;
  const afterMs = told.map(({ createdAt }) => createdAt.getTime() + 1);
  const atMs = Math.max(now.getTime(), call.endedAt?.getTime() ?? 0, ...afterMs);
  const stamp = { id: eventId, now: new Date(atMs) };
  return callTranscribedEvent(call, { transcript, recordingUrl }, stamp);
}
