/** Settings from the environment and `.env`: validated whole at start, the only place that reads them. */
import { existsSync, readFileSync } from 'node:fs';
import { isIP, isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Plan } from '../domain/account/account.ts';
import { isProxyNetwork } from '../domain/trusted-proxies.ts';
import { RETRY_WAITS_SECONDS } from '../domain/webhook/webhook-delivery.ts';
import { DEFAULT_PROVIDERS, PROVIDERS, type Provider } from '../lib/onnx/onnx-providers.ts';
import { parseStunServer } from '../lib/stun-client.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { TTS_ENGINE_NAMES } from '../speech/tts/tts-engines.ts';
import {
  ADVERTISED_ADDRESS_EXPECTED,
  isAdvertisable,
} from '../telephony/trunks/advertised-address.ts';
import { isServerList } from '../telephony/trunks/server-list.ts';
import { type MistypedSetting, mistypedSettings } from './mistyped-settings.ts';
import { ConfigError, SECRETS, withSecretFiles } from './secret-files.ts';
import {
  Expected,
  flag,
  isSpeechServer,
  matching,
  numberAboveZero,
  oneOf,
  optional,
  port,
  type Reader,
  type Setting,
  SPEECH_PROTOCOLS,
  SPEECH_SERVERS_EXPECTED,
  serverContradictions,
  setting,
  text,
  textWhere,
  wholeNumber,
} from './setting-readers.ts';
import { type SettingWarning, settingWarnings } from './setting-warnings.ts';

/** An IP address or a host name; four numbers with dots between them must be an address. */
const host = textWhere(
  (given) => isIP(given) !== 0 || (/^[A-Za-z0-9.-]{1,253}$/.test(given) && !/^[\d.]+$/.test(given)),
  'an IP address or a host name',
);

/** An address of this machine, or the wildcard: SIP and SDP contain the address that the SIP socket is bound to. */
const ownAddress = textWhere(
  (given) => isIPv4(given) || given === '::',
  'an IPv4 address of this machine, 0.0.0.0, or :: for SIP over IPv6 besides; audio is IPv4 only',
);

/** The IPv4 address, or a name of it, that far ends send to. */
const advertisedAddress = textWhere(isAdvertisable, ADVERTISED_ADDRESS_EXPECTED);

/** Asked for the address that `PUBLIC_ADDRESS=auto` stands for. */
const stunServer = textWhere(
  (given) => parseStunServer(given) !== undefined,
  'a STUN server: host or host:port, by name or IPv4 address',
);

/** Base of a web server's addresses: without a query, since paths are appended; without a password, since log and `/readyz` show it. */
const baseUrl: Reader<string> = (given) => {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Expected('an address such as https://voice.example');
  }
  if (/[?#]/.test(given)) throw new Expected('an address without ? and #');
  if (given.includes('@')) throw new Expected('an address without a password');
  return given;
};

/** Reads `OLLAMA_HOST` as Ollama does: scheme and port may be missing. @returns a base URL. */
const ollamaAddress: Reader<string> = (given) => {
  if (given.includes('://')) return baseUrl(given);
  return baseUrl(/:\d+$/.test(given) ? `http://${given}` : `http://${given}:11434`);
};

const engines = matching(
  /^(auto|(ollama|openai|llama-cpp|scripted)(,(ollama|openai|llama-cpp|scripted))*)$/,
  'auto, or a list of ollama, openai, llama-cpp and scripted, best first',
);

const providers: Reader<readonly Provider[]> = (given) =>
  given.split(',').map((part) => oneOf(...PROVIDERS)(part.trim()));

const databaseFile: Reader<string> = (given) => {
  if (/^postgres(ql)?:/i.test(given)) {
    throw new Expected('the path of a file: PostgreSQL is not supported by this version');
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(given)) throw new Expected('the path of a file');
  return given;
};

const portRange: Reader<{ readonly first: number; readonly last: number }> = (given) => {
  const [first = 0, last = 0] = given.split('-').map(Number);
  if (!/^\d{1,5}-\d{1,5}$/.test(given)) throw new Expected('two ports, such as 20000-20999');
  if (first < 1024 || last > 65_535 || last - first < 3) {
    throw new Expected('ports from 1024 to 65535, at least four of them');
  }
  return { first, last };
};

/** Always five waits: a shorter list continues with its last one. */
const waits: Reader<readonly number[]> = (given) => {
  if (!/^\d{1,6}(,\d{1,6}){0,4}$/.test(given)) {
    throw new Expected('five waits in seconds, separated by commas, such as 0,30,120,600,1800');
  }
  const seconds = given.split(',').map(Number);
  return Array.from({ length: 5 }, (_, index) => seconds[index] ?? seconds.at(-1) ?? 0);
};

/** Plans whose keys may not start calls. */
const plans: Reader<readonly Plan[]> = (given) => {
  if (!/^(starter|business|enterprise)(,(starter|business|enterprise))*$/.test(given)) {
    throw new Expected('plans separated by commas: starter, business, enterprise');
  }
  return given.split(',') as Plan[];
};

/** One or several servers that do the same work. */
const servers = textWhere(
  isServerList,
  'servers such as 10.0.0.1 or 10.0.0.1:9022*3,10.0.0.2:9022',
);

const networks: Reader<readonly string[]> = (given) => {
  const parts = given.split(',').map((part) => part.trim());
  if (parts.every(isProxyNetwork)) return parts;
  throw new Expected('addresses or networks separated by commas, such as 127.0.0.1,10.0.0.0/8');
};

/** Headers in OpenTelemetry's form; a value may have ASCII characters as %20. */
const otlpHeaders = matching(
  /^[\w-]+=(%[0-7][\dA-Fa-f]|[^,%\s])+(,[\w-]+=(%[0-7][\dA-Fa-f]|[^,%\s])+)*$/,
  'headers separated by commas, such as authorization=Basic%20abc,x-team=phones',
);

/** The agent apologises after 15 s: a longer wait for one model leaves no time for the next one. */
const modelWaitMs = wholeNumber(100, 60_000);

/** Addresses of speech servers. */
const speechServers: Reader<readonly string[]> = (given) => {
  const parts = given.split(',').map((part) => part.trim());
  if (!parts.every(isSpeechServer)) throw new Expected(SPEECH_SERVERS_EXPECTED);
  return parts;
};

/** Longer than this and a caller thinks the line is dead. */
const speechWaitMs = wholeNumber(100, 30_000);

/** Every setting, by the name of its environment variable. */
export const SETTINGS = {
  HOST: setting(host, '127.0.0.1'),
  PORT: setting(port, 3000),
  PUBLIC_URL: optional(baseUrl),
  TRUSTED_PROXIES: setting(networks, []),
  PUBLIC_ADDRESS: optional(advertisedAddress),
  STUN_SERVER: optional(stunServer),
  DATA_DIR: setting(text, './data'),
  SECRETS_KEY: optional(
    matching(/^[0-9A-Za-z+/]{43}=$/, '32 bytes in base64, as `openssl rand -base64 32` makes them'),
  ),
  DISK_FREE_MIN_MB: setting(wholeNumber(0, 999_999_999), 512),
  DATABASE_URL: optional(databaseFile),
  LOG_LEVEL: setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info'),
  LOG_FORMAT: setting(oneOf('auto', 'pretty', 'json'), 'auto'),
  BOOTSTRAP_LIVE_KEY: optional(
    matching(/^svc_live_[0-9A-Za-z]{32}$/, 'svc_live_ and 32 letters or digits'),
  ),
  BOOTSTRAP_TEST_KEY: optional(
    matching(/^svc_test_[0-9A-Za-z]{32}$/, 'svc_test_ and 32 letters or digits'),
  ),
  WEBHOOK_SIGNING_SECRET: optional(text),
  TELEPHONY: setting(oneOf('embedded', 'drachtio'), 'embedded'),
  MEDIA: optional(oneOf('direct', 'freeswitch')),
  SIP_HOST: setting(ownAddress, '127.0.0.1'),
  SIP_PORT: setting(port, 5060),
  SIP_TLS_PORT: setting(port, 5061),
  SIP_TLS_CERT: optional(text),
  SIP_TLS_KEY: optional(text),
  SIP_TLS_CA: optional(text),
  SIP_TLS_VERIFY_CLIENTS: setting(flag, false),
  SIP_TRUNKS: setting(text, 'sip-config/trunks.json'),
  SIP_PHONES: setting(text, 'sip-config/phones.json'),
  SIP_STRANGERS: setting(oneOf('ignore', 'refuse'), 'ignore'),
  RTP_PORTS: setting(portRange, { first: 20_000, last: 20_999 }),
  MAX_CALLS: setting(wholeNumber(1, 100_000), 200),
  HOLD_MUSIC_FILE: optional(text),
  DRACHTIO_HOST: setting(servers, '127.0.0.1'),
  DRACHTIO_PORT: setting(port, 9022),
  DRACHTIO_SECRET: setting(text, 'cymru'),
  FREESWITCH_HOST: setting(servers, '127.0.0.1'),
  FREESWITCH_PORT: setting(port, 8021),
  FREESWITCH_SECRET: setting(text, 'ClueCon'),
  MODELS_DIR: setting(text, './models'),
  ONNX_PROVIDERS: setting(providers, DEFAULT_PROVIDERS),
  MODELS_PROFILE: setting(oneOf('small', 'standard', 'best'), 'standard'),
  MODELS_BASE_URL: optional(baseUrl),
  HF_TOKEN: optional(text),
  VAD: setting(oneOf('auto', 'silero', 'energy'), 'auto'),
  STT: setting(oneOf('auto', 'whisper', 'moonshine', 'transformers', ...SPEECH_PROTOCOLS), 'auto'),
  STT_URL: setting(speechServers, []),
  STT_MODEL: optional(text),
  STT_API_KEY: optional(text),
  STT_TIMEOUT_MS: setting(speechWaitMs, 2500),
  TURN: setting(oneOf('auto', 'smart-turn', 'off'), 'auto'),
  TTS: setting(oneOf('auto', ...TTS_ENGINE_NAMES, ...SPEECH_PROTOCOLS), 'auto'),
  TTS_URL: setting(speechServers, []),
  TTS_MODEL: optional(text),
  TTS_VOICE: optional(text),
  TTS_API_KEY: optional(text),
  TTS_TIMEOUT_MS: setting(speechWaitMs, 2000),
  LLM: setting(engines, 'auto'),
  /** Less does not hold a system prompt and a few turns; no model has more. */
  LLM_CONTEXT_TOKENS: setting(wholeNumber(1024, 1_000_000), 8192),
  LLM_FIRST_TOKEN_MS: setting(modelWaitMs, 8000),
  LLM_NEXT_TOKEN_MS: setting(modelWaitMs, 8000),
  LLM_WARM_PREFIX: setting(flag, true),
  OLLAMA_HOST: setting(ollamaAddress, 'http://127.0.0.1:11434'),
  OLLAMA_MODEL: setting(text, 'qwen3:4b'),
  OPENAI_BASE_URL: optional(baseUrl),
  OPENAI_MODEL: optional(text),
  OPENAI_API_KEY: optional(text),
  /** Installation folder of `node-llama-cpp`; `llama-cpp` in MODELS_DIR unless given. */
  LLAMA_CPP_DIR: optional(text),
  /** The name of a file `llm/NAME.gguf` in MODELS_DIR. */
  LLAMA_CPP_MODEL: setting(
    matching(/^[\w][\w.-]*$/, 'the name of a file in llm, without .gguf'),
    'qwen3-4b',
  ),
  LLAMA_CPP_CALLS: setting(wholeNumber(1, 64), 4),
  KNOWLEDGE_EMBEDDINGS: setting(oneOf('off', 'onnx', 'ollama', 'openai'), 'off'),
  KNOWLEDGE_EMBEDDINGS_URL: optional(baseUrl),
  KNOWLEDGE_EMBEDDINGS_MODEL: optional(text),
  KNOWLEDGE_EMBEDDINGS_API_KEY: optional(text),
  SCRIPT_FILE: optional(text),
  SANDBOX_SPEED: setting(numberAboveZero, 10),
  DRAIN_TIMEOUT_SECONDS: setting(wholeNumber(0, 999_999_999), 3600),
  PLANS_WITHOUT_OUTBOUND: setting(plans, []),
  WEBHOOK_ALLOW_LOCAL: setting(flag, false),
  WEBHOOK_ALLOW_PRIVATE: setting(flag, false),
  WEBHOOK_BACKOFF_SECONDS: setting(waits, RETRY_WAITS_SECONDS),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(baseUrl),
  OTEL_EXPORTER_OTLP_HEADERS: optional(otlpHeaders),
  OTEL_SERVICE_NAME: setting(text, 'offhook'),
};

type Settings = typeof SETTINGS;

/** The settings as the server uses them, named as in the environment. */
export type Config = {
  readonly [Name in keyof Settings]: Settings[Name]['otherwise'];
} & { readonly PUBLIC_URL: string };

/** The database file: everything but recordings. */
export function databaseFileOf(config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): string {
  return config.DATABASE_URL ?? join(config.DATA_DIR, 'offhook.db');
}

/**
 * Reads the settings from an environment; an empty variable counts as not given.
 *
 * @throws {ConfigError} naming every wrong setting, its value unless it is a secret, and what is allowed.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = withSecretFiles(environment);
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { read, otherwise }] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const value = given[name];
    try {
      values[name] = value === undefined || value === '' ? otherwise : read(value);
    } catch (error) {
      if (!(error instanceof Expected)) throw error;
      problems.push(`${name}: expected ${error.message}${got(name, value)}`);
    }
  }
  // Each of them was read by the setting of its name.
  const config = values as Config;
  if (problems.length === 0) problems.push(...contradictionsOf(config));
  if (problems.length > 0) {
    throw new ConfigError(`Cannot start with these settings:\n  ${problems.join('\n  ')}`);
  }
  return { ...config, PUBLIC_URL: config.PUBLIC_URL ?? `http://localhost:${config.PORT}` };
}

/** The wrong value, for messages; empty for a secret, and for an address with a password. */
function got(name: string, value = ''): string {
  return SECRETS.has(name) || value.includes('@') ? '' : `, got "${value}"`;
}

/** Settings that are valid one by one but not together. */
function contradictionsOf(config: Config): string[] {
  const { LLM, OPENAI_BASE_URL, OPENAI_MODEL } = config;
  const { SIP_TLS_CERT, SIP_TLS_KEY, SIP_TLS_CA, SIP_TLS_VERIFY_CLIENTS } = config;
  const isHalf = (SIP_TLS_CERT === undefined) !== (SIP_TLS_KEY === undefined);
  const isBlind = SIP_TLS_VERIFY_CLIENTS && !(SIP_TLS_CERT && SIP_TLS_CA);
  const isLost = LLM.includes('openai') && !(OPENAI_BASE_URL && OPENAI_MODEL);
  const { TELEPHONY, PUBLIC_ADDRESS, STUN_SERVER } = config;
  const isUnseen =
    PUBLIC_ADDRESS === 'auto' && TELEPHONY === 'drachtio' && STUN_SERVER === undefined;
  return [
    ...(isUnseen ? ['PUBLIC_ADDRESS: auto with TELEPHONY=drachtio needs STUN_SERVER as well'] : []),
    ...(isHalf ? ['SIP_TLS_CERT and SIP_TLS_KEY: expected both of them, or neither'] : []),
    ...(isBlind ? ['SIP_TLS_VERIFY_CLIENTS: needs SIP_TLS_CERT and SIP_TLS_CA as well'] : []),
    ...(isLost ? ['LLM: openai needs OPENAI_BASE_URL and OPENAI_MODEL as well'] : []),
    ...embeddingContradictions(config),
    ...(['STT', 'TTS'] as const).flatMap((job) =>
      serverContradictions(job, config[job], config[`${job}_URL`]),
    ),
  ];
}

/** Reads the process's own environment, with `.env` of the working directory below it. */
export function readProcessConfig(): Config {
  // Turns ONNX Runtime's telemetry off. It must be set before ONNX Runtime is loaded; child processes inherit it.
  process.env.ORT_DISABLE_TELEMETRY = '1';
  if (existsSync('.env')) process.loadEnvFile('.env');
  return readConfig(process.env);
}

/** Variables of the environment that have no effect and are nearly a setting; for warnings. */
export function mistypedVariables(environment = process.env): readonly MistypedSetting[] {
  const secretFiles = [...SECRETS].map((name) => `${name}_FILE`);
  const known = new Set([...Object.keys(SETTINGS), ...secretFiles]);
  return mistypedSettings(Object.keys(environment), known);
}

/** Settings that are valid and probably not meant so; for warnings. */
export function doubtfulSettings(
  config: Config,
  environment = process.env,
): readonly SettingWarning[] {
  return settingWarnings(config, environment);
}

/**
 * Reads a file of settings, with `${NAME}` in it replaced by the variable of that name: secrets stay out of the file.
 *
 * @throws {ConfigError} naming the file, or the variable that is not set.
 */
export function readSettingsFile(path: string, environment = process.env): string {
  try {
    const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
    return text.replace(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => {
      const value = withSecretFiles(environment)[name];
      if (value === undefined) throw new Error(`the variable ${name} in it is not set`);
      return JSON.stringify(value).slice(1, -1);
    });
  } catch (error) {
    throw new ConfigError(`Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  }
}

/** The settings as text for the operator, one `NAME=value` a line, secrets masked. */
export function printConfig(config: Config): string {
  return Object.entries(config)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      return `${name}=${SECRETS.has(name) ? '********' : printValue(value)}`;
    })
    .join('\n');
}

/** A setting's value as text, as it stands in the environment. */
export function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object' && value !== null && 'first' in value && 'last' in value) {
    return `${value.first}-${value.last}`;
  }
  return String(value);
}

function embeddingContradictions(config: Config): readonly string[] {
  const { KNOWLEDGE_EMBEDDINGS: protocol, KNOWLEDGE_EMBEDDINGS_MODEL: model } = config;
  // The model in a process of ours has a default and no address.
  if (protocol === 'off' || protocol === 'onnx') return [];
  const isLost = protocol === 'openai' && config.KNOWLEDGE_EMBEDDINGS_URL === undefined;
  const needs = (name: string) => `KNOWLEDGE_EMBEDDINGS: ${protocol} needs ${name} as well`;
  return [
    ...(model === undefined ? [needs('KNOWLEDGE_EMBEDDINGS_MODEL')] : []),
    ...(isLost ? [needs('KNOWLEDGE_EMBEDDINGS_URL')] : []),
  ];
}
