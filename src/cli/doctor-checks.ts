/** `admin doctor`: checks of the machine, its data folder and database, of ports, addresses and a running server, and how findings are shown. */
import { createSocket } from 'node:dgram';
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import Sqlite from 'better-sqlite3';
import { type Config, databaseFileOf } from '../config/config.ts';
import type { MistypedSetting } from '../config/mistyped-settings.ts';
import type { SettingWarning } from '../config/setting-warnings.ts';
import { DEFAULT_TIMING } from '../conversation/turn/turn-rules.ts';
import type { EngineState, ReadinessReport } from '../domain/call/engine-state.ts';
import { systemClock } from '../lib/clock.ts';
import { interfaceAddresses, localUrlHost, rangeOfAddress } from '../lib/local-routes.ts';
import { silentLogger } from '../lib/logger.ts';
import { hasCode, messageOf } from '../lib/unknown-value.ts';
import type { LanguageModelReport } from '../llm/fallback-model.ts';
import { openStore } from '../store/store.ts';
import type { Finding } from './doctor-finding.ts';

const NODE_MAJOR_MIN = 24;

/** Sockets of a call (RTP and RTCP), its recording, and its share of connections to models. */
const FILES_PER_CALL = 6;

/** Open files of the process itself: database, logs, models, listeners. */
const FILES_BESIDES = 200;

const MIB = 1024 * 1024;

/** A record that is younger than now by more than this means that the clock went back. */
const FUTURE_MS_MAX = 60_000;

/** Checks that need neither the network nor a model. */
export async function machineFindings(config: Config): Promise<readonly Finding[]> {
  return [
    nodeFinding(process.versions.node),
    openFilesFinding(config.MAX_CALLS, readFileSync('/proc/self/limits', 'utf8')),
    folderFinding(config.DATA_DIR),
    diskFinding(config),
    await databaseFinding(config),
    clockFinding(config, Date.now()),
  ];
}

/** Variables that were probably meant to be a setting, and settings that were probably meant otherwise. */
export function settingFindings(
  mistyped: readonly MistypedSetting[],
  warnings: readonly SettingWarning[],
): readonly Finding[] {
  const found = [
    ...mistyped.map(({ variable, nearest }) => ({
      found: `${variable} has no effect: no setting has this name`,
      advice: `set ${nearest} instead`,
    })),
    ...warnings.map(({ problem, advice }) => ({ found: problem, advice })),
  ];
  return found.map((each) => ({ check: 'settings', state: 'limited', ...each }));
}

/** Whether the version of Node is one that the server supports. */
export function nodeFinding(version: string): Finding {
  const isNew = Number(version.split('.')[0]) >= NODE_MAJOR_MIN;
  return {
    check: 'Node',
    state: isNew ? 'ok' : 'wrong',
    found: `version ${version}`,
    advice: isNew ? undefined : `use Node ${NODE_MAJOR_MIN} or newer; "npm start" brings its own`,
  };
}

/** @param limits of `/proc/self/limits` */
export function openFilesFinding(maxCalls: number, limits: string): Finding {
  const check = 'open files';
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  const needed = maxCalls * FILES_PER_CALL + FILES_BESIDES;
  if (soft === undefined) return { check, state: 'ok', found: 'the limit is unknown here' };
  const isEnough = soft === 'unlimited' || Number(soft) >= needed;
  return {
    check,
    state: isEnough ? 'ok' : 'wrong',
    found: `${soft} allowed, ${maxCalls} calls need about ${needed}`,
    advice: isEnough
      ? undefined
      : `raise the limit (LimitNOFILE=${needed} in the systemd unit, or ulimit -n), or lower MAX_CALLS`,
  };
}

function folderFinding(folder: string): Finding {
  const check = 'data folder';
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return { check, state: 'ok', found: `"${folder}" can be written` };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      return { check, state: 'ok', found: `"${folder}" is made at the first start` };
    }
    const advice = 'give it to the user of the server, or set DATA_DIR to another folder';
    return { check, state: 'wrong', found: `"${folder}" cannot be written`, advice };
  }
}

function diskFinding({ DATA_DIR, DISK_FREE_MIN_MB }: Config): Finding {
  const check = 'disk';
  try {
    const { bavail, bsize } = statfsSync(DATA_DIR);
    const freeMb = Math.floor((bavail * bsize) / MIB);
    const isEnough = freeMb >= DISK_FREE_MIN_MB;
    return {
      check,
      state: isEnough ? 'ok' : 'wrong',
      found: `${freeMb} MB free, DISK_FREE_MIN_MB is ${DISK_FREE_MIN_MB}`,
      advice: isEnough
        ? undefined
        : 'no recording begins: make room, or set a retention (PATCH /api/account)',
    };
  } catch {
    return { check, state: 'ok', found: 'known after the first start' };
  }
}

async function databaseFinding(config: Config): Promise<Finding> {
  const check = 'database';
  const file = databaseFileOf(config);
  try {
    accessSync(file);
  } catch {
    return { check, state: 'ok', found: `"${file}" is made at the first start` };
  }
  try {
    const sqlite = new Sqlite(file, { readonly: true, fileMustExist: true });
    const answer = sqlite.pragma('quick_check(1)', { simple: true });
    sqlite.close();
    if (answer !== 'ok') throw new Error(`it is damaged: ${String(answer)}`);
    const options = { file, clock: systemClock, log: silentLogger, mayMigrate: false };
    await (await openStore({ ...options, secretsKey: config.SECRETS_KEY })).close();
    return { check, state: 'ok', found: `"${file}" is sound` };
  } catch (error) {
    const advice = 'bring back a backup with "npm run admin -- restore <folder> --force"';
    return { check, state: 'wrong', found: messageOf(error), advice };
  }
}

/** Compares the clock with the newest event on record: certificates, rate limits and webhooks need the right time. */
function clockFinding(config: Config, nowMs: number): Finding {
  const check = 'clock';
  const now = new Date(nowMs).toISOString();
  const newestMs = newestEventMs(databaseFileOf(config));
  if (newestMs === undefined || newestMs <= nowMs + FUTURE_MS_MAX) {
    return { check, state: 'ok', found: `${now}` };
  }
  const found = `${now}, and the newest event on record is of ${new Date(newestMs).toISOString()}`;
  return { check, state: 'wrong', found, advice: 'set the clock, and run an NTP client' };
}

function newestEventMs(file: string): number | undefined {
  try {
    const sqlite = new Sqlite(file, { readonly: true, fileMustExist: true });
    try {
      const query = sqlite.prepare('select max(created_at) from events').pluck();
      return (query.get() as number | null) ?? undefined;
    } finally {
      sqlite.close();
    }
  } catch {
    // Without a usable database there is nothing to compare with; the database has its own line.
    return undefined;
  }
}

interface Port {
  readonly check: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly host: string;
  readonly port: number;
  /** The setting that names it. */
  readonly setting: string;
}

/** Whether the ports can be bound; to be asked only while no server of these settings runs. */
export function portFindings(config: Config): Promise<readonly Finding[]> {
  return Promise.all(portsOf(config).map(portFinding));
}

function portsOf({ HOST, PORT, SIP_HOST, SIP_PORT, RTP_PORTS, TELEPHONY, ...rest }: Config) {
  const http = { check: 'HTTP port', protocol: 'TCP', host: HOST, port: PORT, setting: 'PORT' };
  if (TELEPHONY !== 'embedded') return [http] as readonly Port[];
  const sip = { check: 'SIP port', host: SIP_HOST, port: SIP_PORT, setting: 'SIP_PORT' };
  const rtp = { check: 'RTP ports', protocol: 'UDP', host: SIP_HOST, setting: 'RTP_PORTS' };
  const tls = { check: 'SIP over TLS', protocol: 'TCP', host: SIP_HOST, setting: 'SIP_TLS_PORT' };
  return [
    http,
    { ...sip, protocol: 'UDP' },
    { ...sip, protocol: 'TCP' },
    ...(rest.SIP_TLS_CERT === undefined ? [] : [{ ...tls, port: rest.SIP_TLS_PORT }]),
    { ...rtp, port: RTP_PORTS.first },
    { ...rtp, port: RTP_PORTS.last },
  ] as readonly Port[];
}

async function portFinding({ check, protocol, host, port, setting }: Port): Promise<Finding> {
  const place = `${protocol} ${host}:${port}`;
  const problem = await (protocol === 'TCP' ? bindTcp : bindUdp)(host, port).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  if (problem === undefined) return { check, state: 'ok', found: `${place} is free` };
  return {
    check,
    state: 'wrong',
    found: `${place} cannot be used`,
    advice: adviceFor(problem, setting, port),
  };
}

function adviceFor(code: string, setting: string, port: number): string {
  if (code === 'EADDRINUSE') {
    return `another program has it ("ss -lntup | grep ${port}" names it): stop that, or change ${setting}`;
  }
  if (code === 'EACCES') return `ports below 1024 are for root: choose a higher ${setting}`;
  if (code === 'EADDRNOTAVAIL') return 'this machine has no such address: change HOST or SIP_HOST';
  return `the system says ${code}`;
}

function bindTcp(host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer();
  server.once('error', reject);
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  return promise;
}

function bindUdp(host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.once('error', (error) => {
    socket.close();
    reject(error);
  });
  socket.bind({ address: host, port, exclusive: true }, () => socket.close(() => resolve()));
  return promise;
}

/** The addresses of this machine that are not its loopback. */
function ownAddresses(): readonly string[] {
  return interfaceAddresses()
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
}

/** Whether a carrier can reach this machine at the advertised address. */
export function addressFinding(
  { SIP_HOST, PUBLIC_ADDRESS }: Pick<Config, 'SIP_HOST' | 'PUBLIC_ADDRESS'>,
  addresses: readonly string[] = ownAddresses(),
): Finding {
  const check = 'address';
  if (rangeOfAddress(SIP_HOST) === 'loopback') {
    const advice =
      'set SIP_HOST=0.0.0.0 (or an address of this machine) before a carrier is connected';
    return { check, state: 'limited', found: 'only calls from this machine are accepted', advice };
  }
  if (PUBLIC_ADDRESS !== undefined) {
    return { check, state: 'ok', found: `far ends outside are told ${PUBLIC_ADDRESS}` };
  }
  if (addresses.some((address) => rangeOfAddress(address) === 'public')) {
    return { check, state: 'ok', found: 'this machine has a public address' };
  }
  const advice =
    'a carrier outside hears nothing behind a NAT: set PUBLIC_ADDRESS to the address of your router, or to auto';
  return {
    check,
    state: 'limited',
    found: `private addresses only: ${addresses.join(', ') || 'none'}`,
    advice,
  };
}

/**
 * Tells which language model has answered a question, and how fast.
 *
 * @param report as it is after the answer: with the model that gave it.
 */
export function answerFinding(report: LanguageModelReport, firstWordMs: number): Finding {
  const check = 'language model';
  const { engine, reason, standIn, replacement } = report;
  if (standIn !== undefined) {
    const found =
      standIn === 'rule_book'
        ? `${engine}: fixed rules, which ignore an agent's instructions`
        : engine;
    return { check, state: 'limited', found, advice: replacement?.how ?? reason };
  }
  const found = `${engine} answers, the first word after ${(firstWordMs / 1000).toFixed(1)} s`;
  if (firstWordMs < DEFAULT_TIMING.modelFillerMs) return { check, state: 'ok', found };
  const advice =
    'callers hear "One moment, please." before most answers: a smaller model, or a graphics card (docs/language-models.md)';
  return { check, state: 'limited', found, advice };
}

const ANSWER_MS = 4000;

const ENGINE_NAMES: Readonly<Record<EngineState['job'], string>> = {
  vad: 'voice activity',
  stt: 'recogniser',
  turn: 'end of turn',
  tts: 'voice',
  llm: 'language model',
};

/** Undefined when no Offhook server answers there. */
export async function askServer({ HOST, PORT }: Config): Promise<ReadinessReport | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(`http://${localUrlHost(HOST)}:${PORT}/readyz`, { signal });
    const report = (await response.json()) as Partial<ReadinessReport>;
    return Array.isArray(report.engines) && Array.isArray(report.checks)
      ? (report as ReadinessReport)
      : undefined;
  } catch {
    // Nothing listens there, or another program does: the check of the port says which.
    return undefined;
  }
}

/** @param name of a trunk with `trunk ` before it, or of a SIP or media server. */
function adviceOn(name: string): string | undefined {
  const trunk = /^trunk (.+)$/.exec(name)?.[1];
  return trunk && `npm run admin -- trunk check ${trunk}`;
}

/** The report of a server that runs. */
export function serverFindings(report: ReadinessReport): readonly Finding[] {
  const isReady = report.status === 'ready';
  return [
    {
      check: 'server',
      state: isReady ? 'ok' : 'wrong',
      found: `runs, and is ${report.status.replace('_', ' ')}`,
    },
    ...report.engines.map(engineFinding),
    ...report.carriers.map(({ name, isReady: isWell, state }) => ({
      check: `carrier ${name}`,
      state: isWell ? ('ok' as const) : ('wrong' as const),
      found: state,
      advice: isWell ? undefined : adviceOn(name),
    })),
    ...report.checks.map(({ name, isOk, state }) => ({
      check: name,
      state: isOk ? ('ok' as const) : ('wrong' as const),
      found: state,
    })),
  ];
}

function engineFinding({
  job,
  engine,
  state,
  limitation,
  replacement,
  reason,
}: EngineState): Finding {
  const check = ENGINE_NAMES[job];
  if (state === 'failed') return { check, state: 'wrong', found: reason, advice: replacement?.how };
  if (limitation === null) return { check, state: 'ok', found: engine };
  return { check, state: 'limited', found: `${engine}: ${limitation}`, advice: replacement?.how };
}
