/** Composition root: the control plane: REST, dashboard, outgoing and simulated calls, webhooks, analysis, erasure. */
import { randomBytes } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { createApi } from '../api/api.ts';
import type { ApiApp } from '../api/api-env.ts';
import { openLive } from '../call/live-calls.ts';
import { CampaignRunner } from '../call/outbound/campaign-runner.ts';
import { OutboundDialer } from '../call/outbound/outbound-dialer.ts';
import { agentChat } from '../call/sandbox/agent-chat.ts';
import { startGreetings } from '../call/session/greetings.ts';
import { RequestLog } from '../domain/account/request-log.ts';
import type { ReadinessCheck } from '../domain/call/engine-state.ts';
import { trustedProxies } from '../domain/trusted-proxies.ts';
import { systemClock } from '../lib/clock.ts';
import { CommandDownloads } from '../model-store/server-downloads/command-downloads.ts';
import { addDashboardRoutes } from '../operator/dashboard-routes.ts';
import type { PhoneSockets } from '../operator/phone-sockets.ts';
import {
  type ErasureRounds,
  openEraser,
  RetentionRounds,
} from '../store/accounts/retention-rounds.ts';
import { startAnalysis } from './analysis.ts';
import type { ControlPlaneParts } from './app-parts.ts';
import { type BrowserCalls, browserSockets, openBrowserCalls } from './browser-calls.ts';
import { Sandbox } from './sandbox.ts';
import { openTrunkControl } from './trunk-control.ts';
import { urlRulesOf, Webhooks, watchOutbox } from './webhooks.ts';

/** Parts of the server that incoming calls do not need; they start after the calls, and stop before them. */
export class ControlPlane {
  readonly #parts: ControlPlaneParts;
  readonly #dialer: OutboundDialer;
  readonly #sandbox: Sandbox;
  readonly #campaigns: CampaignRunner;
  readonly #browser: BrowserCalls;
  readonly #live: ReturnType<typeof openLive>;
  readonly #eraser: ErasureRounds;
  readonly #modelDownloads: CommandDownloads;
  readonly #api: ApiApp;
  /** The WebSockets of the dashboard's telephone. */
  readonly upgrades: PhoneSockets;
  /** Functions that stop the started parts, in the order of starting. */
  readonly #stops: (() => Promise<void> | void)[] = [];

  constructor(parts: ControlPlaneParts) {
    this.#parts = parts;
    const { registry, watch } = parts.admission;
    this.#dialer = liveDialer(parts);
    this.#sandbox = new Sandbox({
      ...parts,
      ...{ clock: systemClock, watch },
      knowledgeOf: (agent) => parts.knowledge.of(agent),
      ownToolsOf: async (agent) => [
        ...(await parts.customTools.toolsOf(agent)),
        ...(await parts.mcpTools.toolsOf(agent)),
      ],
    });
    this.#campaigns = campaignRunner(parts, this.#dialQueues());
    this.#browser = openBrowserCalls(parts);
    this.#live = openLive(registry, this.#sandbox.registry);
    const isQuiet = () => registry.size === 0 && this.#sandbox.registry.inProgress.length === 0;
    this.#eraser = openEraser(parts.store, {
      ...parts,
      clock: systemClock,
      dataFolder: parts.config.DATA_DIR,
      isQuiet,
    });
    this.#modelDownloads = new CommandDownloads({
      ...parts,
      settings: parts.config,
      clock: systemClock,
    });
    this.#api = this.#createApi();
    this.upgrades = browserSockets(parts, this.#browser);
  }

  /** Starts dialling and delivering; resolves when requests can be answered. @throws {Error} naming the part that failed. */
  async start(): Promise<void> {
    const { router, store, log } = this.#parts;
    await store.idempotency.releaseAll();
    const webhooks = new Webhooks(this.#parts);
    this.#stops.push(() => webhooks.stop());
    this.#stops.push(() => this.#parts.dashboard.selfTest.stop());
    this.#stops.push(() => this.#modelDownloads.stop());
    watchOutbox(this.#parts);
    this.#stops.push(startGreetings(this.#parts));
    const retention = new RetentionRounds({ retention: store.retention, clock: systemClock, log });
    retention.start();
    this.#stops.push(() => retention.stop());
    this.#eraser.start();
    this.#stops.push(() => this.#eraser.stop());
    this.#stops.push(startAnalysis(this.#parts));
    this.#stops.push(() => this.#browser.stop());
    await this.#browser.start((incoming, findAgent) => void router.take(incoming, findAgent));
    this.#stops.push(() => this.#dialer.stop());
    this.#dialer.start();
    this.#stops.push(() => this.#sandbox.stop());
    this.#sandbox.start();
    this.#stops.push(() => this.#campaigns.stop());
    this.#campaigns.start();
    this.#stops.push(store.startCheckpoints());
    await webhooks.start();
    // Last: a closed feed stays closed, and a failed start is tried again.
    this.#stops.push(() => store.liveFeed.close());
    this.#stops.push(() => this.#live.liveSound.close());
  }

  fetch(request: Request, env: HttpBindings): Response | Promise<Response> {
    return this.#api.fetch(request, env);
  }

  /** Begins no more calls. Resolves when the last simulated call has ended. */
  async drain(): Promise<void> {
    this.#campaigns.drain();
    this.#dialer.drain();
    this.#browser.drain();
    await this.#sandbox.drain();
  }

  /** Safe to call twice, and after a start that failed. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        this.#parts.log.error({ err: error }, 'a part could not be stopped');
      }
    }
  }

  browserCheck(): ReadinessCheck {
    return this.#browser.check();
  }

  #dialQueues() {
    return { live: this.#dialer, test: this.#sandbox.dialQueue };
  }

  #createApi(): ApiApp {
    const { config, metrics, store, log, newId, version } = this.#parts;
    return createApi({
      ...store,
      operatorKeys: this.#parts.dashboard.keys,
      addRoutes: (api, deps) => addDashboardRoutes(api, deps, this.#parts.dashboard),
      ...this.#live,
      dialQueues: this.#dialQueues(),
      voices: this.#parts.speech.voices,
      callTraces: this.#parts.callTraces,
      trunks: this.#parts.telephony.trunks,
      trunkControl: openTrunkControl(this.#parts),
      numberOwners: this.#parts.numberOwners,
      eraser: this.#eraser,
      documentReader: this.#parts.knowledge.documentReader,
      modelDownloads: this.#modelDownloads,
      languageModels: this.#parts.speech.agentModels,
      toolTrial: this.#parts.customTools.trial,
      mcpTrial: this.#parts.mcpTools.trial,
      chat: agentChat({
        modelOf: (agent) => this.#parts.speech.agentModels.of(agent),
        toolsOf: async (agent) => {
          const { customTools, mcpTools } = this.#parts;
          return (await Promise.all([mcpTools.toolsOf(agent), customTools.toolsOf(agent)])).flat();
        },
        knowledgeOf: (agent) => this.#parts.knowledge.of(agent),
        counts: metrics.knowledge,
        clock: systemClock,
        log,
      }),
      plansWithoutOutbound: config.PLANS_WITHOUT_OUTBOUND,
      isTrustedProxy: trustedProxies(config.TRUSTED_PROXIES),
      metrics,
      readiness: this.#parts.readiness,
      clock: systemClock,
      log,
      requestLog: new RequestLog(systemClock),
      serverLog: this.#parts.serverLog,
      newId,
      random: randomBytes,
      webhookUrlRules: urlRulesOf(config),
      publicUrl: config.PUBLIC_URL.replace(/\/$/, ''),
      dataFolder: config.DATA_DIR,
      recordingSecret: this.#parts.recordingSecret,
      version,
    });
  }
}

/** Dials the outgoing calls of the live environment. */
function liveDialer({ admission, store, telephony, callParts }: ControlPlaneParts): OutboundDialer {
  return new OutboundDialer({
    ...callParts,
    environment: 'live',
    carrier: telephony,
    parts: () => callParts,
    registry: admission.registry,
    findAgent: (scope, agentId) => store.agents.find(scope, agentId),
    hoursOf: async (accountId) => (await store.accounts.find(accountId))?.callingHours ?? null,
  });
}

function campaignRunner(
  { config, log, metrics, newId, numberOwners, store }: ControlPlaneParts,
  dialQueues: ConstructorParameters<typeof CampaignRunner>[0]['dialQueues'],
): CampaignRunner {
  return new CampaignRunner({
    stores: store,
    transaction: store.transaction,
    dialQueues,
    ownerOf: numberOwners.ownerOf,
    plansWithoutOutbound: config.PLANS_WITHOUT_OUTBOUND,
    counts: metrics.campaigns,
    ...{ newId, clock: systemClock, log },
  });
}
