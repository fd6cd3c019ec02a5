/** Composition root: puts the server together, starts it in order, and stops it in reverse. */
import { randomBytes } from 'node:crypto';
import { createApi } from '../api/api.ts';
import { HttpServer } from '../api/http/http-server.ts';
import type { OutboundDialer } from '../call/outbound/outbound-dialer.ts';
import { agentChat } from '../call/sandbox/agent-chat.ts';
import type { CallParts } from '../call/session/call-parts.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { isSigningSecret } from '../domain/account/api-key.ts';
import { bootstrap, settingsWithoutEffect } from '../domain/account/bootstrap.ts';
import type { NumberOwners } from '../domain/dialing/number-owner.ts';
import { idMaker, type NewId } from '../domain/ids.ts';
import { trustedProxies } from '../domain/trusted-proxies.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { randomPool } from '../lib/random-pool.ts';
import { addDashboardRoutes } from '../operator/dashboard-routes.ts';
import type { Store } from '../store/store.ts';
import { LiveAdmission } from './admission.ts';
import { recordingSecretOf, startAnalysis } from './analysis.ts';
import {
  type BrowserCalls,
  browserSockets,
  openBrowserCalls,
  openDashboard,
  setupUrlOf,
} from './browser-calls.ts';
import { liveCallParts, liveDialer, liveRouter, openLive } from './calls.ts';
import { startTightening } from './data-folder.ts';
import { type ErasureRounds, openEraser } from './erasure.ts';
import { startGreetings } from './greetings.ts';
import { Health } from './health.ts';
import { checkNumbers, openNumberOwners } from './numbers.ts';
import type { AppParts } from './parts.ts';
import { recover, startRetention } from './retention-sweep.ts';
import { Sandbox } from './sandbox.ts';
import { openSipTraces, type SipTraceKeeper } from './sip-trace.ts';
import { bootstrapNotice, type Notice, readyNotice, setupNotice } from './startup-banner.ts';
import { Webhooks, watchOutbox } from './webhooks.ts';

/** For those who waited for the start. */
const BREATH_MS = 100;

export class App {
  readonly #parts: AppParts;
  readonly #ladders: SipTraceKeeper;
  readonly #admission: LiveAdmission;
  readonly #newId: NewId = idMaker({ nowMs: Date.now, random: randomPool() });
  readonly #callParts: CallParts;
  readonly #dialer: OutboundDialer;
  readonly #sandbox: Sandbox;
  readonly #browser: BrowserCalls;
  readonly #health: Health;
  readonly #dashboard: ReturnType<typeof openDashboard>;
  readonly #live: ReturnType<typeof openLive>;
  readonly #http: HttpServer;
  readonly #numberOwners: NumberOwners;
  readonly #eraser: ErasureRounds;
  /** How to stop what has been started, in the order of starting. */
  readonly #stops: (() => Promise<void> | void)[] = [];
  #isDraining = false;
  #stopped: Promise<void> | undefined;

  constructor(parts: AppParts) {
    this.#parts = parts;
    const { config } = parts;
    this.#ladders = openSipTraces(parts);
    const { trunks } = parts.telephony;
    this.#numberOwners = openNumberOwners({ ...parts, trunks });
    const facts = { ladders: this.#ladders, callsMax: config.MAX_CALLS };
    this.#admission = new LiveAdmission({ ...parts, ...facts });
    const { registry, watch } = this.#admission;
    this.#callParts = liveCallParts({ ...parts, newId: this.#newId });
    this.#dialer = liveDialer({ ...parts, callParts: this.#callParts, registry });
    this.#sandbox = new Sandbox({ ...parts, newId: this.#newId, clock: systemClock, watch });
    this.#browser = openBrowserCalls(parts);
    this.#health = new Health({ ...parts, admission: this.#admission, browser: this.#browser });
    this.#dashboard = openDashboard({ ...parts, newId: this.#newId });
    this.#live = openLive(registry, this.#sandbox);
    const isQuiet = () => registry.size === 0 && this.#sandbox.inProgress.length === 0;
    this.#eraser = openEraser({ ...parts, newId: this.#newId, isQuiet });
    this.#http = new HttpServer({
      host: config.HOST,
      port: config.PORT,
      fetch: this.#createApi().fetch,
      upgrades: browserSockets(parts, { dashboard: this.#dashboard, phone: this.#browser }),
      newId: this.#newId,
      clock: systemClock,
      rates: parts.store.rates,
      isTrustedProxy: trustedProxies(config.TRUSTED_PROXIES),
      log: parts.log,
    });
  }

  /** Every port is open when it resolves. @throws {Error} naming what could not be started, and why. */
  async start(): Promise<void> {
    const { disk, metrics, show, speech, telephony, store } = this.#parts;
    this.#stops.push(() => this.#parts.lock?.release());
    this.#stops.push(() => store.close());
    this.#stops.push(() => this.#parts.tracing?.stop());
    this.#stops.push(() => this.#ladders.stop());
    this.#stops.push(() => speech.hearing.stop());
    this.#stops.push(() => speech.synthesizer.stop());
    this.#stops.push(() => telephony.stop());
    this.#stops.push(startTightening(this.#parts));
    this.#stops.push(() => disk.stop());
    await disk.start();
    this.#admission.watchThreads();
    this.#stops.push(() => this.#admission.stop());
    const welcome = firstStart({ ...this.#parts, newId: this.#newId });
    // At once: a start that fails later must not lose them.
    if (welcome !== undefined) show(welcome);
    checkNumbers({ ...this.#parts, trunks: telephony.trunks, owners: this.#numberOwners });
    await recover({ ...this.#parts, newId: this.#newId });
    const webhooks = new Webhooks(this.#parts);
    this.#stops.push(() => webhooks.stop());
    watchOutbox(this.#parts);
    metrics.watchSip(() => telephony.sipCounts);
    metrics.watchTrunks(() => telephony.trunks.list());
    metrics.watchQueue(() => store.calls.countQueued('live', 'outbound'));
    metrics.recordings.watch(disk);
    metrics.watchLog(this.#parts.linesLost ?? (() => 0));
    metrics.start();
    this.#stops.push(() => metrics.stop());
    this.#stops.push(() => speech.model.stop());
    this.#stops.push(() => this.#health.stop());
    await Promise.all([
      speech.hearing.start(),
      speech.synthesizer.start(),
      telephony.startMedia(),
      this.#health.start(),
    ]);
    this.#stops.push(startGreetings(this.#parts));
    this.#stops.push(startRetention(this.#parts));
    this.#eraser.start();
    this.#stops.push(() => this.#eraser.stop());
    this.#stops.push(startAnalysis({ ...this.#parts, newId: this.#newId }));
    await this.#takeCalls();
    this.#stops.push(() => this.#http.stop());
    const port = await this.#http.start();
    // Before the port is closed: a live view would keep its connection open.
    this.#stops.push(() => store.liveFeed.close());
    this.#stops.push(() => this.#live.liveSound.close());
    this.#showReady(port);
    await this.#startRest(webhooks);
  }

  #showReady(port: number): void {
    const { config, show, version } = this.#parts;
    show(readyNotice({ config, version, port, report: this.#health.report(false) }));
    const setupUrl = setupUrlOf(this.#dashboard, config);
    if (setupUrl !== undefined) show(setupNotice(setupUrl));
  }

  /** From here on there are calls. */
  async #takeCalls(): Promise<void> {
    const { telephony, store } = this.#parts;
    const admission = this.#admission;
    const [callParts, numberOwners] = [this.#callParts, this.#numberOwners];
    const router = liveRouter({ store, numberOwners, admission, callParts });
    await telephony.start((incoming) => void router.take(incoming), store.dialogs);
    this.#stops.push(() => this.#browser.stop());
    await this.#browser.start((incoming, findAgent) => void router.take(incoming, findAgent));
    this.#stops.push(() => this.#dialer.stop());
    this.#dialer.start();
    this.#stops.push(() => this.#sandbox.stop());
    this.#sandbox.start();
  }

  /** Starts what neither calls nor requests wait for: to load it would hold up the first of them. */
  async #startRest(webhooks: Webhooks): Promise<void> {
    await new Promise<void>((resolve) => systemClock.after(BREATH_MS, resolve));
    if (this.#stopped !== undefined) return;
    this.#stops.push(this.#parts.store.startCheckpoints());
    await webhooks.start();
    // Not before: a start is busy, and no call is to be refused for that.
    if (this.#stopped === undefined) this.#admission.start();
  }

  /** Takes no new calls and waits for those in progress; after `timeoutMs` they are ended. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    this.#dialer.drain();
    const isTelephonyEmpty = this.#parts.telephony.drain();
    this.#browser.drain();
    const timeOver = Promise.withResolvers<void>();
    const cancel = systemClock.after(timeoutMs, timeOver.resolve);
    const isEmpty = Promise.all([
      this.#admission.registry.whenEmpty(),
      this.#sandbox.drain(),
      isTelephonyEmpty,
    ]);
    await Promise.race([isEmpty, timeOver.promise]);
    cancel();
  }

  /** Ends every call, then stops everything in reverse. Safe to call twice, and after a start that failed. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    this.#isDraining = true;
    this.#dialer.drain();
    void this.#parts.telephony.drain();
    this.#browser.drain();
    await this.#admission.registry.endAll('the server stops');
    for (const stop of this.#stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        this.#parts.log.error({ err: error }, 'a part could not be stopped');
      }
    }
  }

  #createApi() {
    const { config, metrics, store, log, version } = this.#parts;
    return createApi({
      ...store,
      operatorKeys: this.#dashboard.keys,
      addRoutes: (api, deps) => addDashboardRoutes(api, deps, this.#dashboard),
      ...this.#live,
      dialQueues: { live: this.#dialer, test: this.#sandbox.dialQueue },
      voices: this.#parts.speech.voices,
      ladders: this.#ladders,
      trunks: this.#parts.telephony.trunks,
      numberOwners: this.#numberOwners,
      eraser: this.#eraser,
      chat: agentChat({ model: this.#parts.speech.model, clock: systemClock, log }),
      plansWithoutOutbound: config.PLANS_WITHOUT_OUTBOUND,
      isTrustedProxy: trustedProxies(config.TRUSTED_PROXIES),
      metrics,
      readiness: () => this.#health.report(this.#isDraining),
      clock: systemClock,
      log,
      newId: this.#newId,
      random: randomBytes,
      webhookUrlRules: {
        allowLocal: config.WEBHOOK_ALLOW_LOCAL,
        allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
      },
      publicUrl: config.PUBLIC_URL.replace(/\/$/, ''),
      dataFolder: config.DATA_DIR,
      recordingSecret: recordingSecretOf(store),
      version,
    });
  }
}

const SETTINGS = {
  liveKey: 'BOOTSTRAP_LIVE_KEY',
  testKey: 'BOOTSTRAP_TEST_KEY',
  signingSecret: 'WEBHOOK_SIGNING_SECRET',
} as const;

/**
 * Makes the first account, or warns of settings that only a first start reads.
 *
 * @returns what the operator must be shown, at once: keys are kept as hashes only.
 * @throws {ConfigError} when the signing secret of a first start is none.
 */
function firstStart(parts: {
  readonly config: Config;
  readonly store: Pick<Store, 'accounts' | 'apiKeys'>;
  readonly newId: NewId;
  readonly log: Logger;
}): Notice | undefined {
  const { config, store, newId, log } = parts;
  const { accounts, apiKeys } = store;
  const now = systemClock.now();
  const settings = {
    liveKey: config.BOOTSTRAP_LIVE_KEY,
    testKey: config.BOOTSTRAP_TEST_KEY,
    signingSecret: config.WEBHOOK_SIGNING_SECRET,
  };
  if (accounts.count() === 0) {
    checkSigningSecret(settings.signingSecret);
    const secrets = bootstrap({ accounts, settings, newId, random: randomBytes, now });
    return secrets && bootstrapNotice(secrets, config);
  }
  for (const name of settingsWithoutEffect({ accounts, apiKeys, settings, now })) {
    const remedy = `npm run admin -- ${name === 'signingSecret' ? 'secret' : 'key create'}`;
    const fields = { setting: SETTINGS[name], remedy };
    log.warn(fields, 'setting has no effect: it counts at the first start only, which is over');
  }
  return undefined;
}

/** Here and not with the other settings: an installation that has such a secret must go on starting. */
function checkSigningSecret(secret: string | undefined): void {
  if (secret === undefined || isSigningSecret(secret)) return;
  throw new ConfigError(
    'Cannot start with these settings:\n  WEBHOOK_SIGNING_SECRET: expected whsec_ and at least 16 bytes in Base64, such as the output of: echo "whsec_$(openssl rand -base64 24)"',
  );
}
