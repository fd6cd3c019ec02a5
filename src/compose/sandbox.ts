/** Composition root: the test environment: calls simulated in this process. */
import { randomBytes } from 'node:crypto';
import { AdmittingRegistry, type CallGate } from '../call/admission/admission-watch.ts';
import { OutboundDialer } from '../call/outbound/outbound-dialer.ts';
import { SandboxCaller } from '../call/sandbox/sandbox-caller.ts';
import { SandboxListener, sandboxVoice } from '../call/sandbox/sandbox-listener.ts';
import {
  sandboxRules,
  sandboxSms,
  sandboxToolbox,
  searchInRealTime,
  toolInRealTime,
} from '../call/sandbox/sandbox-rules.ts';
import type {
  CallMetrics,
  CallParts,
  TalkingParty,
  TalkOptions,
} from '../call/session/call-parts.ts';
import type { CallTracing } from '../call/session/call-tracing.ts';
import { openRecordings } from '../call/session/recordings.ts';
import type { Config } from '../config/config.ts';
import { Conversation } from '../conversation/conversation.ts';
import type { Agent, Scope } from '../domain/agent/agent.ts';
import type { DialQueue } from '../domain/dialing/outbound-rules.ts';
import type { NewId } from '../domain/ids.ts';
import { type Clock, ScaledClock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { Logger } from '../lib/logger.ts';
import { parseRuleBook } from '../llm/scripted/rule-book.ts';
import { ScriptedModel } from '../llm/scripted/scripted-model.ts';
import type { Store } from '../store/store.ts';
import { SandboxCarrier } from '../telephony/sandbox/sandbox-carrier.ts';
import { SandboxLeg, SandboxLine } from '../telephony/sandbox/sandbox-leg.ts';
import type { Tool } from '../tool/tool.ts';
import type { SpeechParts } from './speech.ts';

/** Concurrent simulated calls: they use half a core, which leaves time for real calls. */
const CALLS_MAX = 100;

/** No trunk limits the rate. */
const CALLS_PER_SECOND = 100;

/** Differs from most agents' voices, so that a recording's listener can tell the two apart. */
const PARTY_VOICE = { voice: 'en-GB-RyanNeural', language: 'en-GB' };

interface SandboxParts {
  readonly config: Config;
  readonly disk: Pick<DiskSpace, 'isShort' | 'state'>;
  readonly store: Store;
  readonly speech: Pick<SpeechParts, 'synthesizer'>;
  readonly watch: CallGate;
  /** The customer's own tools that an agent lists; none unless given. */
  readonly ownToolsOf?: (agent: Agent) => Promise<readonly Tool[]>;
  /** The search of an agent's documents; none unless given. */
  readonly knowledgeOf?: CallParts['knowledgeOf'];
  readonly tracing?: CallTracing | undefined;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Metrics are about real calls. */
const NO_METRICS: CallMetrics = {
  callStarted: () => undefined,
  callEnded: () => undefined,
  callMissed: () => undefined,
  silentLine: () => undefined,
  callRefused: () => undefined,
  recordingFailed: () => undefined,
  audio: () => undefined,
  turn: () => undefined,
  bargeIn: () => undefined,
  speculation: () => undefined,
};

/** Carrier, dialler and callers of the test environment. */
export class Sandbox {
  readonly #parts: SandboxParts;
  readonly #carrier: SandboxCarrier;
  /** The simulated calls. */
  readonly registry: AdmittingRegistry;
  readonly #dialer: OutboundDialer;
  readonly #caller: SandboxCaller;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
    const { clock, log, newId, speech, store, tracing, watch } = parts;
    this.registry = new AdmittingRegistry({
      callsMax: CALLS_MAX,
      watch,
      onGone: (callId) => void tracing?.callOver(callId),
    });
    this.#carrier = new SandboxCarrier({
      clock: this.#newClock(),
      newSid: () => `${randomBytes(12).toString('hex')}@sandbox.invalid`,
      speak: (text) => speech.synthesizer.speak({ ...PARTY_VOICE, text }),
      log,
    });
    const common = {
      parts: () => this.#callParts(),
      registry: this.registry,
      findAgent: (scope: Scope, agentId: string) => store.agents.find(scope, agentId),
      calls: store.calls,
      clock,
      log,
    };
    this.#dialer = new OutboundDialer({
      ...common,
      environment: 'test',
      carrier: this.#carrier,
      callsPerSecond: CALLS_PER_SECOND,
      newId,
    });
    this.#caller = new SandboxCaller({
      ...common,
      ringIn: (request) => this.#carrier.ringIn(request),
    });
  }

  /** Queue of the test environment's outgoing calls. */
  get dialQueue(): DialQueue {
    return this.#dialer;
  }

  start(): void {
    this.#dialer.start();
    this.#caller.start();
  }

  /** Begins no more calls. Resolves when the last one has ended. */
  async drain(): Promise<void> {
    await this.#beginNoMore();
    await this.registry.whenEmpty();
  }

  /** Ends every call. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#beginNoMore();
    await this.registry.endAll('the server stops');
    await this.#carrier.stop();
  }

  async #beginNoMore(): Promise<void> {
    await Promise.all([this.#dialer.stop(), this.#caller.stop()]);
    this.#carrier.drain();
  }

  /** The parts of one call, with its own clock that starts now. */
  #callParts(): CallParts {
    const { config, disk, log, newId, store } = this.#parts;
    const clock = this.#newClock();
    const recordings = openRecordings({ dataFolder: config.DATA_DIR, disk });
    return {
      calls: store.calls,
      qualities: store.qualities,
      live: store.liveFeed,
      recordings: {
        ...recordings,
        start: (callId, leg) => {
          if (!(leg instanceof SandboxLeg)) throw new TypeError('Cannot record: not a sandbox leg');
          leg.open(clock);
          return recordings.start(callId, leg);
        },
      },
      metrics: NO_METRICS,
      newId,
      clock,
      log,
      isOwnNumber: async () => false,
      accountOf: async () => undefined,
      toolsOf: async (agent, call) => {
        const own = call.scenario === 'own_tools' ? await this.#parts.ownToolsOf?.(agent) : [];
        const sms = sandboxSms(call, { stores: store, newId, clock });
        return [sms, ...(own ?? []).map((tool) => toolInRealTime(tool, clock))];
      },
      knowledgeOf: async (agent) => {
        const search = await this.#parts.knowledgeOf?.(agent);
        return search && searchInRealTime(search, clock);
      },
      talk: (options) => this.#talk(options, clock),
    };
  }

  #talk(options: TalkOptions, clock: ScaledClock): TalkingParty {
    const { agent, audio, callTools } = options;
    const ownTools = callTools.filter(({ description: { name } }) => name !== 'send_sms');
    if (!(audio instanceof SandboxLine)) throw new TypeError('Cannot talk: not a sandbox line');
    return new Conversation({
      ...options,
      listener: new SandboxListener({ voice: audio, clock }),
      hasVoiceDetector: false,
      synthesizer: sandboxVoice(this.#parts.speech.synthesizer, clock),
      model: new ScriptedModel({ book: parseRuleBook(sandboxRules(clock.now(), ownTools)), clock }),
      tools: sandboxToolbox({
        transferTargets: agent.settings.transferTargets,
        partyNumber: audio.partyNumber,
        callTools,
        clock,
      }),
      clock,
    });
  }

  #newClock(): ScaledClock {
    return new ScaledClock({ speed: this.#parts.config.SANDBOX_SPEED, clock: this.#parts.clock });
  }
}
