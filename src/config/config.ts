/** Settings from the environment and `.env`: validated whole at start, the only place that reads them. */
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { Plan } from '../domain/account/account.ts';
import { isProxyNetwork } from '../domain/trusted-proxies.ts';
import { RETRY_WAITS_SECONDS } from '../domain/webhook/retry-schedule.ts';
import { TTS_ENGINE_NAMES } from '../speech/tts/tts-engines.ts';
import {
  ADVERTISED_ADDRESS_EXPECTED,
  isAdvertisable,
} from '../telephony/trunks/advertised-address.ts';
import { isServerList } from '../telephony/trunks/server-list.ts';

/** Digits alone, both bounds included: `Number` takes `0x10`, `1e3` and a space as well. */
function wholeNumber(min: number, max: number) {
  const message = `expected a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** A port, or 0 for a free one. */
const port = wholeNumber(0, 65_535);

const ABOVE_ZERO = 'expected a number above 0';

/** Above 0, with a fraction or without. */
const positive = z.coerce.number(ABOVE_ZERO).positive(ABOVE_ZERO);

/** An IP address, or a name: four numbers with dots between them are an address, or nothing. */
const host = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || (/^[A-Za-z0-9.-]{1,253}$/.test(text) && !/^[\d.]+$/.test(text)),
    'expected an IP address or a host name',
  );

/** An address of this machine, or the wildcard: what a socket of SIP is bound to is written in SIP and SDP as well. */
const ownAddress = z
  .string()
  .refine((text) => isIP(text) !== 0, 'expected an IP address of this machine, or 0.0.0.0');

/** What far ends are told: an IPv4 address that they can send to, or a name that has one. */
const advertisedAddress = z.string().refine(isAdvertisable, ADVERTISED_ADDRESS_EXPECTED);

/** The base of a web server's addresses; what is appended would be lost behind a query. */
const baseUrl = z
  .url({ protocol: /^https?$/, error: 'expected an address such as https://voice.example' })
  .refine((text) => !/[?#]/.test(text), 'expected an address without ? and #')
  // Addresses are shown, in the log and at /readyz.
  .refine((text) => !text.includes('@'), 'expected no password');

const engines = z
  .string()
  .regex(
    /^(auto|(ollama|openai|llama-cpp|scripted)(,(ollama|openai|llama-cpp|scripted))*)$/,
    'expected auto, or a list out of ollama, openai, llama-cpp and scripted, best first',
  );

/** Less does not hold a system prompt and a few turns; more than this no model has. */
const contextTokens = wholeNumber(1024, 1_000_000);

/** The agent apologises after 15 s: a model that is given longer leaves no time for the next one. */
const waitMs = wholeNumber(100, 60_000);

/** In the words of the environment; part of the whole in `config.ts`. */
const LLM_SETTINGS = {
  LLM: engines.default('auto'),
  LLM_CONTEXT_TOKENS: contextTokens.default(8192),
  LLM_FIRST_TOKEN_MS: waitMs.default(8000),
  LLM_NEXT_TOKEN_MS: waitMs.default(8000),
  LLM_WARM_PREFIX: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .default(true),
  OLLAMA_MODEL: z.string().min(1).default('qwen3:4b'),
  OPENAI_MODEL: z.string().min(1).optional(),
  /** Where `node-llama-cpp` is installed; `llama-cpp` in MODELS_DIR unless given. */
  LLAMA_CPP_DIR: z.string().min(1).optional(),
  /** The name of a file `llm/NAME.gguf` in MODELS_DIR. */
  LLAMA_CPP_MODEL: z
    .string()
    .regex(/^[\w][\w.-]*$/, 'expected the name of a file in llm, without .gguf')
    .default('qwen3-4b'),
  LLAMA_CPP_CALLS: wholeNumber(1, 64).default(4),
  OPENAI_API_KEY: z.string().min(1).optional(),
};

/** Settings that are valid one by one but not together; empty when all is well. */
function llmContradictions(config: {
  readonly LLM: string;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_MODEL?: string | undefined;
}): string[] {
  const { LLM, OPENAI_BASE_URL, OPENAI_MODEL } = config;
  return LLM.includes('openai') && !(OPENAI_BASE_URL && OPENAI_MODEL)
    ? ['LLM: openai needs OPENAI_BASE_URL and OPENAI_MODEL as well']
    : [];
}

/** Says which settings are wrong and what was expected; the process ends with 78 (EX_CONFIG). */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

const portRange = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, 'expected two ports, such as 20000-20999')
  .transform((text) => {
    const [first = 0, last = 0] = text.split('-').map(Number);
    return { first, last };
  })
  .refine(
    ({ first, last }) => first >= 1024 && last <= 65_535 && last - first >= 3,
    'expected ports from 1024 to 65535, at least four of them',
  );

/** There are five attempts whatever is set: a list that is shorter goes on with its last wait. */
const waits = z
  .string()
  .regex(
    /^\d{1,6}(,\d{1,6}){0,4}$/,
    'expected five waits in seconds, separated by commas, such as 0,30,120,600,1800',
  )
  .transform((text) => {
    const given = text.split(',').map(Number);
    return Array.from({ length: 5 }, (_, index) => given[index] ?? given.at(-1) ?? 0);
  });

/** Plans whose keys may not start calls. */
const plans = z
  .string()
  .regex(
    /^(starter|business|enterprise)(,(starter|business|enterprise))*$/,
    'expected plans separated by commas: starter, business, enterprise',
  )
  .transform((text) => text.split(',') as Plan[]);

/** One or several servers that do the same work. */
const servers = z
  .string()
  .refine(isServerList, 'expected servers such as 10.0.0.1 or 10.0.0.1:9022*3,10.0.0.2:9022');

const networks = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .refine(
    (parts) => parts.every(isProxyNetwork),
    'expected addresses or networks separated by commas, such as 127.0.0.1,10.0.0.0/8',
  );

/** As OpenTelemetry writes them; a value may have ASCII characters as %20. */
const otlpHeaders = z
  .string()
  .regex(
    /^[\w-]+=(%[0-7][\dA-Fa-f]|[^,%\s])+(,[\w-]+=(%[0-7][\dA-Fa-f]|[^,%\s])+)*$/,
    'expected headers separated by commas, such as authorization=Basic%20abc,x-team=phones',
  );

/** Variables that hold a secret: masked by `--print-config`, and readable from a file by `NAME_FILE`. */
const SECRETS = [
  'BOOTSTRAP_LIVE_KEY',
  'BOOTSTRAP_TEST_KEY',
  'WEBHOOK_SIGNING_SECRET',
  'DRACHTIO_SECRET',
  'FREESWITCH_SECRET',
  'OPENAI_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'HF_TOKEN',
] as const;

const SCHEMA = z.object({
  HOST: host.default('127.0.0.1'),
  PORT: port.default(3000),
  PUBLIC_URL: baseUrl.optional(),
  TRUSTED_PROXIES: networks.default([]),
  PUBLIC_ADDRESS: advertisedAddress.optional(),
  DATA_DIR: z.string().min(1).default('./data'),
  DISK_FREE_MIN_MB: wholeNumber(0, 999_999_999).default(512),
  DATABASE_URL: z
    .string()
    .refine((url) => !/^postgres(ql)?:/i.test(url), {
      message: 'expected the path of a file: PostgreSQL is not supported by this version',
      abort: true,
    })
    .refine((url) => !/^[a-z][a-z0-9+.-]*:/i.test(url), 'expected the path of a file')
    .optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['auto', 'pretty', 'json']).default('auto'),
  BOOTSTRAP_LIVE_KEY: z
    .string()
    .regex(/^svc_live_[0-9A-Za-z]{32}$/, 'expected svc_live_ and 32 letters or digits')
    .optional(),
  BOOTSTRAP_TEST_KEY: z
    .string()
    .regex(/^svc_test_[0-9A-Za-z]{32}$/, 'expected svc_test_ and 32 letters or digits')
    .optional(),
  WEBHOOK_SIGNING_SECRET: z.string().min(1).optional(),
  TELEPHONY: z.enum(['embedded', 'drachtio']).default('embedded'),
  MEDIA: z.enum(['direct', 'freeswitch']).optional(),
  SIP_HOST: ownAddress.default('127.0.0.1'),
  SIP_PORT: port.default(5060),
  SIP_TRUNKS: z.string().min(1).default('sip-config/trunks.json'),
  RTP_PORTS: portRange.default({ first: 20_000, last: 20_999 }),
  MAX_CALLS: wholeNumber(1, 100_000).default(200),
  DRACHTIO_HOST: servers.default('127.0.0.1'),
  DRACHTIO_PORT: port.default(9022),
  DRACHTIO_SECRET: z.string().default('cymru'),
  FREESWITCH_HOST: servers.default('127.0.0.1'),
  FREESWITCH_PORT: port.default(8021),
  FREESWITCH_SECRET: z.string().default('ClueCon'),
  MODELS_DIR: z.string().min(1).default('./models'),
  MODELS_PROFILE: z.enum(['small', 'standard', 'best']).default('standard'),
  MODELS_BASE_URL: baseUrl.optional(),
  HF_TOKEN: z.string().min(1).optional(),
  VAD: z.enum(['auto', 'silero', 'energy']).default('auto'),
  STT: z.enum(['auto', 'whisper', 'moonshine', 'transformers']).default('auto'),
  TURN: z.enum(['auto', 'smart-turn', 'off']).default('auto'),
  TTS: z.enum(['auto', ...TTS_ENGINE_NAMES]).default('auto'),
  ...LLM_SETTINGS,
  OLLAMA_HOST: baseUrl.default('http://127.0.0.1:11434'),
  OPENAI_BASE_URL: baseUrl.optional(),
  SCRIPT_FILE: z.string().min(1).optional(),
  SANDBOX_SPEED: positive.default(10),
  DRAIN_TIMEOUT_SECONDS: wholeNumber(0, 999_999_999).default(3600),
  PLANS_WITHOUT_OUTBOUND: plans.default([]),
  WEBHOOK_ALLOW_LOCAL: flag.default(false),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  WEBHOOK_BACKOFF_SECONDS: waits.default([...RETRY_WAITS_SECONDS]),
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).default('offhook'),
});

/** The settings as the server uses them; names are the environment's, so that messages and manuals agree. */
export type Config = z.output<typeof SCHEMA> & { readonly PUBLIC_URL: string };

/** The file that the server keeps everything in but recordings. */
export function databaseFileOf(config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): string {
  return config.DATABASE_URL ?? join(config.DATA_DIR, 'offhook.db');
}

/** Adds the text of `NAME_FILE` under `NAME` for every secret that is given by file. */
function withSecretFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const merged = { ...environment };
  for (const name of SECRETS) {
    const file = environment[`${name}_FILE`];
    if (file === undefined || merged[name] !== undefined) continue;
    try {
      merged[name] = readFileSync(file, 'utf8').trim();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`Cannot read ${name}_FILE "${file}": ${why}`, { cause: error });
    }
  }
  return merged;
}

/** Settings that are valid one by one but not together. */
function contradictionsOf(config: z.output<typeof SCHEMA>): string[] {
  return [...llmContradictions(config)];
}

/**
 * Reads the settings from an environment.
 *
 * @throws {ConfigError} naming every wrong setting and what was expected.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(
    Object.entries(withSecretFiles(environment)).filter(([, value]) => value !== ''),
  );
  const result = SCHEMA.safeParse(given);
  const problems = result.success
    ? contradictionsOf(result.data)
    : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  if (!result.success || problems.length > 0) {
    throw new ConfigError(`Cannot start with these settings:\n  ${problems.join('\n  ')}`);
  }
  const PUBLIC_URL = result.data.PUBLIC_URL ?? `http://localhost:${result.data.PORT}`;
  return { ...result.data, PUBLIC_URL };
}

/** Reads the process's own environment, with `.env` of the working directory below it. */
export function readProcessConfig(): Config {
  // ONNX Runtime sends what it runs to its makers unless this is there before it is loaded, in children too.
  process.env.ORT_DISABLE_TELEMETRY = '1';
  if (existsSync('.env')) process.loadEnvFile('.env');
  return readConfig(process.env);
}

/**
 * Reads a file of settings, with `${NAME}` in it replaced by the variable of that name: secrets stay out of the file.
 *
 * @throws {ConfigError} naming the file, or the variable that is not set.
 */
export function readSettingsFile(path: string, environment = process.env): string {
  try {
    return readFileSync(path, 'utf8').replace(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => {
      const value = withSecretFiles(environment)[name];
      if (value === undefined) throw new Error(`the variable ${name} in it is not set`);
      return JSON.stringify(value).slice(1, -1);
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`Cannot read "${path}": ${why}`, { cause: error });
  }
}

/** The settings as text for the operator, one `NAME=value` a line, secrets masked. */
export function printConfig(config: Config): string {
  return Object.entries(config)
    .map(([name, value]) => {
      const isSecret = (SECRETS as readonly string[]).includes(name);
      return `${name}=${isSecret ? '********' : printValue(value)}`;
    })
    .join('\n');
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object' && value !== null && 'first' in value && 'last' in value) {
    return `${value.first}-${value.last}`;
  }
  return String(value);
}
