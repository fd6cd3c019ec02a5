/** Composition root: puts the server together, starts it in order, and stops it in reverse. */
import { randomBytes } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { HttpServer, type Upgrades } from '../api/http/http-server.ts';
import { createProbes, isProbe } from '../api/probes.ts';
import { Health } from '../call/admission/health.ts';
import { LiveAdmission } from '../call/admission/live-admission.ts';
import type { InboundRouter } from '../call/inbound-router.ts';
import type { CallParts } from '../call/session/call-parts.ts';
import { SipTraceKeeper } from '../call/session/sip-trace-keeper.ts';
import { ConfigError } from '../config/secret-files.ts';
import { isSigningSecret } from '../domain/account/api-key.ts';
import { bootstrap, settingsWithoutEffect } from '../domain/account/bootstrap.ts';
import type { NumberOwners } from '../domain/dialing/number-owner.ts';
import { idMaker, type NewId } from '../domain/ids.ts';
import { ServiceError, StoreError } from '../domain/service-error.ts';
import { recoverSms } from '../domain/sms/sms-message.ts';
import { trustedProxies } from '../domain/trusted-proxies.ts';
import { systemClock, waitAtMost } from '../lib/clock.ts';
import type { Dashboard } from '../operator/dashboard.ts';
import type { LiveCalendars } from '../tool/calendar/live-calendars.ts';
import type { CallSms } from '../tool/sms/call-sms.ts';
import type { AppParts } from './app-parts.ts';
import { liveCallParts, liveRouter } from './calls.ts';
import type { ControlPlane } from './control-plane.ts';
import { openDashboard, setupUrlOf } from './dashboard.ts';
import { recordingSecretOf, recover, startTightening } from './data-folder.ts';
import { loadControlPlane } from './load-control-plane.ts';
import { checkNumbers, openNumberOwners } from './numbers.ts';
import { bootstrapNotice, type Notice, readyNotice, setupNotice } from './output.ts';
import { engineTraces } from './sip.ts';
import { engineStates } from './speech.ts';
import {
  type CustomerTools,
  openCallSms,
  openCustomerTools,
  openLiveCalendars,
  takeTexts,
} from './tools/call-tools.ts';
import { type Knowledge, openKnowledge } from './tools/knowledge.ts';

/** The server. Takes calls first, then loads the control plane. */
export class App {
  readonly #parts: AppParts;
  readonly #callTraces: SipTraceKeeper;
  readonly #admission: LiveAdmission;
  readonly #newId: NewId = idMaker({ nowMs: Date.now, random: randomBytes });
  readonly #callParts: CallParts;
  readonly #router: InboundRouter;
  readonly #dashboard: Dashboard;
  readonly #health: Health;
  readonly #http: HttpServer;
  readonly #numberOwners: NumberOwners;
  readonly #customerTools: CustomerTools;
  readonly #knowledge: Knowledge;
  readonly #callSms: CallSms;
  readonly #calendars: LiveCalendars;
  /** Undefined until it has started. */
  #control: ControlPlane | undefined;
  /** The newest attempt, which `stop` ends. */
  #starting: ControlPlane | undefined;
  #controlReady = Promise.withResolvers<ControlPlane>();
  /** Functions that stop the started parts, in the order of starting. */
  readonly #stops: (() => Promise<void> | void)[] = [];
  #isDraining = false;
  #stopped: Promise<void> | undefined;

  constructor(parts: AppParts) {
    this.#parts = parts;
    const { config, store } = parts;
    const { telephony, tracing, log } = parts;
    this.#callTraces = new SipTraceKeeper({
      calls: store.calls,
      sipTraces: store.sipTraces,
      traces: engineTraces(telephony.traces),
      isRemote: config.TELEPHONY === 'drachtio',
      clock: systemClock,
      log,
    });
    const { trunks } = telephony;
    this.#numberOwners = openNumberOwners({ ...parts, trunks });
    this.#admission = new LiveAdmission({
      ...parts,
      callsMax: config.MAX_CALLS,
      onGone: (callId) => {
        void tracing?.callOver(callId);
        void this.#callTraces.callOver(callId);
      },
    });
    this.#customerTools = openCustomerTools({ ...parts, newId: this.#newId });
    const shared = { ...parts, newId: this.#newId, ...this.#customerTools };
    this.#callSms = openCallSms({ ...shared, numberOwners: this.#numberOwners });
    this.#calendars = openLiveCalendars(shared);
    this.#knowledge = openKnowledge(parts);
    const ofCalls = {
      callSms: this.#callSms,
      calendars: this.#calendars,
      knowledge: this.#knowledge,
    };
    this.#callParts = liveCallParts({ ...shared, ...ofCalls });
    this.#router = liveRouter({
      store,
      numberOwners: this.#numberOwners,
      admission: this.#admission,
      callParts: this.#callParts,
    });
    this.#dashboard = openDashboard({ store, newId: this.#newId });
    this.#health = this.#openHealth();
    this.#http = new HttpServer({
      host: config.HOST,
      port: config.PORT,
      fetch: this.#fetcher(),
      upgrades: this.#upgrades(),
      newId: this.#newId,
      clock: systemClock,
      rates: store.rates,
      isTrustedProxy: trustedProxies(config.TRUSTED_PROXIES),
      log: parts.log,
    });
    // Waiting requests get the rejection; without any, it needs no handler.
    this.#controlReady.promise.catch(() => undefined);
  }

  #openHealth(): Health {
    const { disk, log, speech, store, telephony } = this.#parts;
    return new Health({
      model: speech.model,
      warmModel: speech.warmModel,
      engines: (isModelFailing) => engineStates(speech, isModelFailing),
      carriers: () => telephony.reports(),
      probeDatabase: () => store.probe(),
      disk,
      checks: () => [
        this.#admission.check(),
        this.#control?.browserCheck() ?? BROWSER_NOT_STARTED,
        ...telephony.checks(),
        ...[this.#knowledge.check()].flatMap((check) => check ?? []),
      ],
      log,
    });
  }

  /** Every port is open when it resolves. @throws {Error} naming what could not be started, and why. */
  async start(): Promise<void> {
    const { disk, metrics, show, speech, telephony, store } = this.#parts;
    this.#stops.push(() => this.#parts.lock?.release());
    this.#stops.push(() => store.close());
    this.#stops.push(() => this.#parts.tracing?.stop());
    this.#stops.push(() => this.#callTraces.stop());
    this.#stops.push(() => speech.hearing.stop());
    this.#stops.push(() => speech.synthesizer.stop());
    this.#stops.push(() => telephony.stop());
    this.#stops.push(startTightening(this.#parts));
    this.#stops.push(() => disk.stop());
    await disk.start();
    this.#admission.watchThreads();
    this.#stops.push(() => this.#admission.stop());
    const welcome = await firstStart(this.#parts, this.#newId);
    // Before anything can fail: the keys are shown only once.
    if (welcome !== undefined) show(welcome);
    takeTexts(this.#parts);
    await telephony.useStored(store.storedTrunks);
    await checkNumbers({ ...this.#parts, trunks: telephony.trunks, owners: this.#numberOwners });
    await recover({ ...this.#parts, newId: this.#newId });
    await store.transaction((stores) => recoverSms(stores, systemClock.now()));
    metrics.watchSip(() => telephony.sipCounts);
    metrics.watchStrangers(() => telephony.strangers);
    metrics.watchTrunks(() => telephony.trunks.list());
    metrics.watchCertificate(() => telephony.certificateExpiresAt);
    metrics.watchQueue(() => store.calls.countQueued('live', 'outbound'));
    metrics.watchDisk(disk);
    metrics.watchLog(this.#parts.linesLost ?? (() => 0));
    metrics.start();
    this.#stops.push(() => metrics.stop());
    this.#stops.push(() => speech.model.stop());
    this.#stops.push(() => speech.agentModels.stop());
    this.#startTools();
    this.#stops.push(() => this.#knowledge.stop());
    this.#knowledge.start();
    this.#stops.push(() => this.#health.stop());
    await Promise.all([
      speech.hearing.start(),
      speech.synthesizer.start(),
      telephony.startMedia(),
      this.#health.start(),
    ]);
    await telephony.start((incoming) => void this.#router.take(incoming), store.dialogs);
    this.#stops.push(() => this.#http.stop());
    const port = await this.#http.start();
    await this.#showReady(port);
    await this.#startControlPlane();
    // Last: a start is busy, and must refuse no call.
    if (this.#stopped === undefined) this.#admission.start();
  }

  #startTools(): void {
    for (const tools of [this.#customerTools, this.#callSms, this.#calendars]) {
      this.#stops.push(() => tools.stop());
      tools.start();
    }
  }

  /** Loads and starts the control plane; waiting requests are answered then. */
  async #startControlPlane(): Promise<void> {
    const ControlPlane = await loadControlPlane();
    this.#stops.push(() => this.#starting?.stop());
    while (this.#stopped === undefined) {
      try {
        return await this.#tryControlPlane(ControlPlane);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        // Another process may lock the database for a while; calls go on.
        this.#parts.log.warn({ err: error }, 'control plane not started, will try again');
        this.#controlReady.reject(DATABASE_UNAVAILABLE);
        this.#controlReady = Promise.withResolvers();
        this.#controlReady.promise.catch(() => undefined);
        await new Promise<void>((resolve) => systemClock.after(CONTROL_RETRY_MS, resolve));
      }
    }
  }

  async #tryControlPlane(Control: typeof ControlPlane): Promise<void> {
    const control = new Control({
      ...this.#parts,
      recordingSecret: await recordingSecretOf(this.#parts.store),
      newId: this.#newId,
      dashboard: this.#dashboard,
      admission: this.#admission,
      callParts: this.#callParts,
      ...this.#customerTools,
      callSms: this.#callSms,
      knowledge: this.#knowledge,
      router: this.#router,
      callTraces: this.#callTraces,
      numberOwners: this.#numberOwners,
      readiness: () => this.#health.report(this.#isDraining),
    });
    this.#starting = control;
    try {
      await control.start();
    } catch (error) {
      await control.stop();
      throw error;
    }
    // `stop` was called meanwhile: ends the parts that have started since.
    if (this.#stopped !== undefined) await control.stop();
    this.#control = control;
    if (this.#isDraining) void control.drain();
    this.#controlReady.resolve(control);
  }

  async #showReady(port: number): Promise<void> {
    const { config, show, version } = this.#parts;
    show(readyNotice({ config, version, port, report: await this.#health.report(false) }));
    const setupUrl = await setupUrlOf(this.#dashboard, config);
    if (setupUrl !== undefined) show(setupNotice(setupUrl));
  }

  /** Answers probes at once; other requests wait for the control plane. */
  #fetcher(): (request: Request, env: HttpBindings) => Response | Promise<Response> {
    const { config, metrics, log } = this.#parts;
    const probes = createProbes({
      readiness: () => this.#health.report(this.#isDraining),
      publicUrl: config.PUBLIC_URL,
      metrics,
      newId: this.#newId,
      clock: systemClock,
      log,
    });
    return (request, env) => {
      if (isProbe(request)) return probes.fetch(request, env);
      if (this.#control !== undefined) return this.#control.fetch(request, env);
      return this.#controlReady.promise.then((control) => control.fetch(request, env));
    };
  }

  #upgrades(): Upgrades {
    return {
      takes: (request) => this.#control?.upgrades.takes(request) ?? false,
      take: async (...connection) => this.#control?.upgrades.take(...connection),
      stop: () => this.#control?.upgrades.stop(),
    };
  }

  /** Takes no new calls and waits for those in progress; after `timeoutMs` they are ended. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    const isTelephonyEmpty = this.#parts.telephony.drain();
    const isEmpty = Promise.all([
      this.#admission.registry.whenEmpty(),
      this.#control?.drain(),
      isTelephonyEmpty,
    ]);
    await waitAtMost(systemClock, timeoutMs, isEmpty);
  }

  /** Ends every call, then stops everything in reverse. Safe to call twice, and after a start that failed. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    this.#isDraining = true;
    this.#controlReady.reject(
      new ServiceError('SERVICE_UNAVAILABLE', 'Cannot answer now: the server stops'),
    );
    void this.#control?.drain();
    void this.#parts.telephony.drain();
    await this.#admission.registry.endAll('the server stops');
    for (const stop of this.#stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        this.#parts.log.error({ err: error }, 'a part could not be stopped');
      }
    }
  }
}

/** Wait before another attempt to start the control plane, after a database error. */
const CONTROL_RETRY_MS = 500;

const DATABASE_UNAVAILABLE = new ServiceError(
  'SERVICE_UNAVAILABLE',
  'Cannot answer now: the database is unavailable; retry later',
);

const BROWSER_NOT_STARTED = { name: 'browser calls', isOk: true, state: 'not started' };

const SETTINGS = {
  liveKey: 'BOOTSTRAP_LIVE_KEY',
  testKey: 'BOOTSTRAP_TEST_KEY',
  signingSecret: 'WEBHOOK_SIGNING_SECRET',
} as const;

/**
 * Makes the first account, or warns of settings that only a first start reads.
 *
 * @returns what the operator must be shown, at once: keys are kept as hashes only.
 * @throws {ConfigError} when the signing secret of a first start is invalid.
 */
async function firstStart(
  { config, store, log }: AppParts,
  newId: NewId,
): Promise<Notice | undefined> {
  const { accounts, apiKeys } = store;
  const now = systemClock.now();
  const settings = {
    liveKey: config.BOOTSTRAP_LIVE_KEY,
    testKey: config.BOOTSTRAP_TEST_KEY,
    signingSecret: config.WEBHOOK_SIGNING_SECRET,
  };
  if ((await accounts.count()) === 0) {
    checkSigningSecret(settings.signingSecret);
    const secrets = await bootstrap({ accounts, settings, newId, random: randomBytes, now });
    return secrets && bootstrapNotice(secrets, config);
  }
  for (const name of await settingsWithoutEffect({ accounts, apiKeys, settings, now })) {
    const remedy = `npm run admin -- ${name === 'signingSecret' ? 'secret' : 'key create'}`;
    const fields = { setting: SETTINGS[name], remedy };
    log.warn(fields, 'setting has no effect: it counts at the first start only, which is over');
  }
  return undefined;
}

/** Not part of `readConfig`: an installation with such a secret in its environment must still start. */
function checkSigningSecret(secret: string | undefined): void {
  if (secret === undefined || isSigningSecret(secret)) return;
  throw new ConfigError(
    'Cannot start with these settings:\n  WEBHOOK_SIGNING_SECRET: expected whsec_ and at least 16 bytes in Base64, such as the output of: echo "whsec_$(openssl rand -base64 24)"',
  );
}
