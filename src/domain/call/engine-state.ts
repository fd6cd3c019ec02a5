/** The state of the engine for each job, and effects of stand-ins on callers; pure */

/** A task that a model or engine does on a call. */
export type EngineJob = 'vad' | 'stt' | 'turn' | 'tts' | 'llm';

/**
 * How an engine falls short of what the job needs:
 *
 * - `tiny_model`: a model of the repository, made for trying the server
 * - `no_model`: a rule instead of a model
 * - `simple_voice`: espeak-ng instead of a neural voice
 * - `rule_book`: fixed rules instead of a language model
 * - `second_choice`: a real engine, while a better one that is set up cannot be used
 */
export type StandIn = 'tiny_model' | 'no_model' | 'simple_voice' | 'rule_book' | 'second_choice';

/** A better engine for the job, and how to get it. */
export interface Replacement {
  /** Name of the engine, such as `whisper` or `ollama/qwen3:4b`. */
  readonly engine: string;
  /** Instruction in plain English, such as `Run "npm run models", then restart the server`. */
  readonly how: string;
}

/** Report of an engine on itself. */
interface EngineFacts {
  readonly job: EngineJob;
  readonly engine: string;
  /** Why this one, in plain English. */
  readonly reason: string;
  /** True where it was not chosen: a better engine is missing or fails. */
  readonly isFallback: boolean;
  /** Absent for an engine that does the job in full. */
  readonly standIn?: StandIn | undefined;
  /** The job's usual replacement unless given. */
  readonly replacement?: Replacement | undefined;
}

/** One engine as `/readyz` shows it. */
export interface EngineState {
  readonly job: EngineJob;
  readonly engine: string;
  readonly reason: string;
  readonly isFallback: boolean;
  /** `degraded`: another engine is wanted, or this one is a stand-in that the operator chose; `failed`: no engine does the job now. */
  readonly state: 'ready' | 'degraded' | 'failed';
  /** Null for an engine that does the job in full; set for one that an operator chose as well. */
  readonly standIn: StandIn | null;
  /** Effect of the stand-in on callers, in plain English; null where there is none. */
  readonly limitation: string | null;
  /** Null where the job is done in full, and where an operator chose the stand-in. */
  readonly replacement: Replacement | null;
}

const LIMITATIONS: Readonly<Record<EngineJob, Partial<Record<StandIn, string>>>> = {
  vad: {
    tiny_model: 'Knows synthetic voices only: quiet or noisy callers can be missed',
    no_model: 'Tells speech by its loudness alone: noise counts as speech',
  },
  stt: {
    tiny_model: 'Understands a closed set of phrases only',
    no_model: 'Understands nothing that callers say',
  },
  turn: {
    tiny_model: 'Is wrong about the end of one turn in five',
    no_model: 'The words alone tell when a caller has finished',
  },
  tts: { simple_voice: 'Sounds mechanical, whichever voice an agent has' },
  llm: { rule_book: "Ignores an agent's instructions: fixed rules answer" },
};

const SECOND_CHOICE = 'Works, but a better engine is set up and cannot be used';

const RUN_MODELS = 'Run "npm run models", then restart the server';

const REPLACEMENTS: Readonly<Record<EngineJob, Replacement>> = {
  vad: { engine: 'silero', how: RUN_MODELS },
  stt: { engine: 'whisper', how: RUN_MODELS },
  turn: { engine: 'smart-turn', how: RUN_MODELS },
  tts: { engine: 'kokoro', how: RUN_MODELS },
  llm: { engine: 'ollama', how: 'Start Ollama: docs/language-models.md' },
};

/** Completes an engine's report with the texts for its job. @param isFailing whether no engine does the job now. */
export function engineState(facts: EngineFacts, isFailing = false): EngineState {
  const { job, engine, reason, isFallback, standIn = null } = facts;
  const limitation = standIn === null ? null : (LIMITATIONS[job][standIn] ?? SECOND_CHOICE);
  const replacement = isFallback ? (facts.replacement ?? REPLACEMENTS[job]) : null;
  const state = isFallback || standIn !== null ? 'degraded' : 'ready';
  return {
    ...{ job, engine, reason, isFallback },
    state: isFailing ? 'failed' : state,
    ...{ standIn, limitation, replacement },
  };
}

/** State of a SIP server or trunk for `/readyz` and the dashboard. */
export interface CarrierState {
  readonly name: string;
  /** Set for a trunk, which may fail without making the server unready; unset for what all trunks need. */
  readonly kind?: 'trunk';
  readonly isReady: boolean;
  /** In plain English, such as `listening on udp and tcp 127.0.0.1:5060` or why it is not ready. */
  readonly state: string;
}

/** A further condition for readiness, such as a database that can be written. */
export interface ReadinessCheck {
  readonly name: string;
  readonly isOk: boolean;
  /** In plain English, such as why not. */
  readonly state: string;
}

/** Answer of `/readyz`: status, engines, carriers, checks. */
export interface ReadinessReport {
  /** `draining`: calls in progress may finish, new ones are refused. */
  readonly status: 'ready' | 'draining' | 'not_ready';
  readonly engines: readonly EngineState[];
  readonly carriers: readonly CarrierState[];
  readonly checks: readonly ReadinessCheck[];
}

/**
 * Draining wins. Otherwise ready means that every check and every carrier is well; of the trunks at least one, or there is
 * none. A trunk that fails while another works is reported, and calls by the others go on.
 */
export function readinessStatus(parts: {
  readonly isDraining: boolean;
  readonly carriers: readonly CarrierState[];
  readonly checks: readonly ReadinessCheck[];
}): ReadinessReport['status'] {
  if (parts.isDraining) return 'draining';
  const isTrunk = ({ kind }: CarrierState) => kind === 'trunk';
  const trunks = parts.carriers.filter(isTrunk);
  const isWell =
    parts.carriers.every((carrier) => isTrunk(carrier) || carrier.isReady) &&
    (trunks.length === 0 || trunks.some(({ isReady }) => isReady)) &&
    parts.checks.every(({ isOk }) => isOk);
  return isWell ? 'ready' : 'not_ready';
}
