/** Arguments of the server's own command, and its help text; pure */

/** `help`, `version` and `print-config` print and end. */
type Command =
  | { readonly kind: 'serve' | 'help' | 'version' | 'print-config' }
  /** Another program of the package, with its own arguments. */
  | {
      readonly kind: 'program';
      readonly program: 'admin' | 'models';
      readonly words: readonly string[];
    }
  /** `problem` says which word is wrong, and what helps. */
  | { readonly kind: 'wrong'; readonly problem: string };

const COMMANDS: Readonly<Record<string, Command>> = {
  '--help': { kind: 'help' },
  '-h': { kind: 'help' },
  '--version': { kind: 'version' },
  '-v': { kind: 'version' },
  '--print-config': { kind: 'print-config' },
};

/** Commands that are those of `admin`, and stand without that word too. */
const SHORT_ADMIN: ReadonlySet<string> = new Set(['doctor', 'trunk', 'completion']);

/** Reads the arguments; of several good ones the first counts. */
export function readCommandLine(words: readonly string[]): Command {
  const [first = '', ...rest] = words;
  if (first === 'start') return readServerWords(rest);
  if (first === 'admin' || first === 'models') {
    return { kind: 'program', program: first, words: rest };
  }
  if (SHORT_ADMIN.has(first)) return { kind: 'program', program: 'admin', words };
  return readServerWords(words);
}

function readServerWords(words: readonly string[]): Command {
  const unknown = words.find((word) => !Object.hasOwn(COMMANDS, word));
  if (unknown !== undefined) {
    const problem = `Cannot start: unknown argument "${unknown}"; settings come from the environment and .env, and npm start -- --help lists them`;
    return { kind: 'wrong', problem };
  }
  return COMMANDS[words[0] ?? ''] ?? { kind: 'serve' };
}

const MEANINGS = {
  'HOST, PORT': 'address and port of the REST interface and the dashboard',
  PUBLIC_URL: 'base of the links handed out; http://localhost:PORT unless given',
  PUBLIC_ADDRESS: 'address that far ends outside the local networks see, in SIP and SDP',
  TRUSTED_PROXIES: 'addresses of the TLS proxy in front',
  'DATA_DIR, DATABASE_URL': 'folder of database and recordings; the database file, if elsewhere',
  DISK_FREE_MIN_MB: 'below it no recording begins',
  'LOG_LEVEL, LOG_FORMAT': 'fatal to trace, or silent; auto, pretty or json',
  'BOOTSTRAP_LIVE_KEY, BOOTSTRAP_TEST_KEY': 'keys of the first start; generated unless given',
  WEBHOOK_SIGNING_SECRET: 'whsec_ and Base64, at the first start; generated unless given',
  'TELEPHONY, MEDIA': 'embedded or drachtio; direct or freeswitch',
  'SIP_HOST, SIP_PORT': 'where the embedded SIP engine listens',
  'SIP_TLS_PORT, SIP_TLS_CERT, SIP_TLS_KEY': 'SIP over TLS: port, certificate and key as PEM files',
  'SIP_TLS_CA, SIP_TLS_VERIFY_CLIENTS':
    'authorities of carriers; whether their certificates are asked for',
  SIP_TRUNKS: 'file that describes the carriers',
  SIP_PHONES: 'file that describes telephones that register here',
  SIP_STRANGERS: 'ignore or refuse: SIP from hosts that no trunk allows',
  RTP_PORTS: 'UDP ports of media, such as 20000-20999',
  MAX_CALLS: 'calls at a time',
  'DRACHTIO_HOST, DRACHTIO_PORT, DRACHTIO_SECRET': 'drachtio-server',
  'FREESWITCH_HOST, FREESWITCH_PORT, FREESWITCH_SECRET': 'event socket of FreeSWITCH',
  'MODELS_DIR, MODELS_PROFILE': 'where speech models lie, and how large they are',
  'VAD, STT, TURN, TTS, LLM': 'engines; auto takes the best that is installed',
  'OLLAMA_HOST, OLLAMA_MODEL': 'language model by Ollama',
  'OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API_KEY': 'language model by any OpenAI-compatible server',
  SANDBOX_SPEED: 'how many times faster than real time simulated calls run',
  DRAIN_TIMEOUT_SECONDS: 'how long calls may finish after SIGTERM',
  'WEBHOOK_ALLOW_LOCAL, WEBHOOK_ALLOW_PRIVATE': 'whether webhooks may go to such addresses',
  WEBHOOK_BACKOFF_SECONDS: 'waits before the five attempts of a webhook',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'collector of traces',
} as const;

/** What `--help` prints. */
export function helpText(): string {
  return [
    'Offhook: a phone server for voice agents.',
    '',
    'Usage: npm start [-- option]     or, where the package is installed: offhook [command] [option]',
    '',
    '  start                    starts the server; so does no command at all',
    '  doctor                   looks at ports, disk, models, trunks, and says what is wrong and what to do',
    '  trunk check <name>       asks a carrier step by step',
    '  models [options]         downloads speech and language models',
    '  admin <command>          accounts, keys, numbers, webhooks, backups',
    '  completion <shell>       prints completions for bash, zsh or fish',
    '',
    'Examples: offhook doctor     offhook models --profile standard     PORT=8080 offhook start',
    '',
    '  --help          shows this',
    '  --version       shows the version',
    '  --print-config  shows all settings that are in effect, secrets masked',
    '',
    'Settings come from the environment, and from .env in this folder. A secret can come from a file: NAME_FILE.',
    '',
    ...Object.entries(MEANINGS).map(([names, meaning]) => `  ${names}\n      ${meaning}`),
    '',
    'Other commands: npm run demo, npm run models, npm run admin. Manuals: README.md and docs/.',
  ].join('\n');
}
