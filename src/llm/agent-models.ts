/** Language models that agents name: each at the server's own model server, with the server's own model behind it. */
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { type LanguageModelCounts, UNCOUNTED } from '../lib/metrics/model-metrics.ts';
import type { LanguageModel, ModelEvent, ModelRequest, ModelServer } from './language-model.ts';
import { PrefixWarming } from './prefix-warming.ts';
import { ProbedModel } from './probed-model.ts';

/** Models whose state is kept; an older one begins as one that works. */
const MODELS_MAX = 100;

/** How long a list of names is good for. */
const NAMES_KEPT_MS = 5000;

/** A broker of hosted models lists hundreds; a longer list is a fault. */
const NAMES_MAX = 1000;

/** An agent's choice of model. */
export interface ModelChoice {
  readonly id: string;
  /** A name at the model server; null for the server's own model. */
  readonly model: string | null;
}

interface Options {
  /** The order in LLM, which answers for agents without a model and where an agent's own fails. */
  readonly own: LanguageModel;
  /** The first of that order; undefined where that has one model only. */
  readonly server?: ModelServer | undefined;
  /** Put around each model that an agent names. */
  readonly guarded?: (model: LanguageModel) => LanguageModel;
  /** Prefix warming of `own`, shared so that one limit holds for the prompts of all models. */
  readonly warming?: PrefixWarming;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts?: LanguageModelCounts;
  /** Whether prompts are read ahead; true unless given. */
  readonly mayWarm?: boolean;
}

/** State of a model that agents name. */
interface NamedModel {
  readonly probed: ProbedModel;
  /** Ids of the agents for which the model's failure was logged. */
  readonly told: Set<string>;
  /** Whether an answer was wanted of it since the newest probe. */
  isWanted: boolean;
}

/** Chooses the model of an agent. */
export class AgentModels {
  readonly #options: Required<Omit<Options, 'server'>> & Pick<Options, 'server'>;
  readonly #named = new Map<string, NamedModel>();
  #list: { readonly atMs: number; readonly names: Promise<readonly string[] | undefined> };

  constructor(options: Options) {
    const { clock, counts = UNCOUNTED } = options;
    this.#options = {
      ...{ guarded: (model: LanguageModel) => model, mayWarm: true, counts },
      warming: new PrefixWarming({ clock, counts }),
      ...options,
    };
    this.#list = { atMs: Number.NEGATIVE_INFINITY, names: Promise.resolve(undefined) };
  }

  /** Name of the model that answers for agents that name none, such as `ollama/qwen3:4b`. */
  get ownName(): string {
    return this.#options.own.name;
  }

  /** Whether the first engine of the order has models to choose from. */
  get isChoosable(): boolean {
    return this.#options.server !== undefined;
  }

  /**
   * Lists the names that agents may give, within 2 s. Never rejects.
   *
   * @param options.isFresh asks the model server even when a recent list is cached.
   * @returns sorted; empty where there is nothing to choose, undefined while the model server does not answer.
   */
  async names({ isFresh = false } = {}): Promise<readonly string[] | undefined> {
    const { clock, server } = this.#options;
    if (server === undefined) return [];
    const nowMs = clock.nowMs();
    if (isFresh || nowMs - this.#list.atMs > NAMES_KEPT_MS) {
      // A server that does not answer is the operator's to see in `/readyz`, not a fault of the question.
      const names = server.modelNames().then(inOrder, () => undefined);
      this.#list = { atMs: nowMs, names };
    }
    return await this.#list.names;
  }

  /** The model that answers for the agent. */
  of({ id, model: name }: ModelChoice): LanguageModel {
    const { own, server } = this.#options;
    if (name === null || server === undefined) return own;
    const model = server.withModel(name);
    if (model.name === server.name) return own;
    const named = this.#named.get(name) ?? this.#remember(name, model);
    return new AgentModel(id, named, this.#options);
  }

  /** Ends the probes. Safe to call twice; the models of `own` are stopped by themselves. */
  async stop(): Promise<void> {
    await Promise.all([...this.#named.values()].map(({ probed }) => probed.stop()));
  }

  #remember(name: string, model: LanguageModel): NamedModel {
    const { clock, guarded, log, mayWarm } = this.#options;
    const isWanted = () => {
      const wasWanted = named.isWanted;
      named.isWanted = false;
      return wasWanted;
    };
    const probed = new ProbedModel(guarded(model), { clock, log, mayWarm, isWanted });
    const named: NamedModel = { probed, told: new Set(), isWanted: false };
    const [oldest] = this.#named.size < MODELS_MAX ? [] : this.#named.keys();
    if (oldest !== undefined) {
      void this.#named.get(oldest)?.probed.stop();
      this.#named.delete(oldest);
    }
    this.#named.set(name, named);
    return named;
  }
}

function inOrder(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted().slice(0, NAMES_MAX);
}

/** Asks the agent's model; where that fails before its first word, and while it is known to fail, the server's own. */
class AgentModel implements LanguageModel {
  readonly #agentId: string;
  readonly #named: NamedModel;
  readonly #options: Required<Omit<Options, 'server'>>;

  constructor(agentId: string, named: NamedModel, options: Required<Omit<Options, 'server'>>) {
    this.#agentId = agentId;
    this.#named = named;
    this.#options = options;
  }

  get name(): string {
    return this.#current.name;
  }

  get ignoresPrompts(): boolean {
    return this.#current.ignoresPrompts === true;
  }

  /** The smaller context of the two models: the server's own may be asked for the next answer. */
  get contextTokens(): number | undefined {
    const both = [this.#named.probed.model, this.#options.own];
    const windows = both.flatMap(({ contextTokens }) => contextTokens ?? []);
    return windows.length === 0 ? undefined : Math.min(...windows);
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    request.signal.throwIfAborted();
    this.#named.isWanted = true;
    if (this.#named.probed.failure === undefined && (yield* this.#answer(request))) return;
    this.#warnOnce();
    yield* this.#options.own.stream(request);
  }

  async warm(prefix: ModelRequest): Promise<boolean> {
    const { mayWarm, own, warming } = this.#options;
    const { failure, model } = this.#named.probed;
    if (!mayWarm) return false;
    return failure === undefined
      ? await warming.warm(model, prefix)
      : ((await own.warm?.(prefix)) ?? false);
  }

  async check(): Promise<void> {
    await this.#current.check();
  }

  get #current(): LanguageModel {
    const { failure, model } = this.#named.probed;
    return failure === undefined ? model : this.#options.own;
  }

  /** @returns false where it failed before its first word. */
  async *#answer(request: ModelRequest): AsyncGenerator<ModelEvent, boolean> {
    const { counts, warming } = this.#options;
    const { probed, told } = this.#named;
    const answerEnds = warming.answerBegins();
    try {
      if ((yield* probed.answer(request)) === undefined) {
        told.clear();
        return true;
      }
      counts.fellBack(probed.model.name);
      return false;
    } finally {
      answerEnds();
    }
  }

  #warnOnce(): void {
    const { log, own } = this.#options;
    const { probed, told } = this.#named;
    if (told.has(this.#agentId)) return;
    told.add(this.#agentId);
    const [agentId, model, reason] = [this.#agentId, probed.model.name, probed.failure];
    log.warn({ agentId, model, reason, next: own.name }, 'language model of an agent failed');
  }
}
