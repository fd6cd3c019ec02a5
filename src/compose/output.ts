/** Composition root: the log and the startup banner on standard output. */
import { styleText } from 'node:util';
import type { Config } from '../config/config.ts';
import type { BootstrapSecrets } from '../domain/account/bootstrap.ts';
import { SETUP_LINK_LIFE_MS } from '../domain/account/user.ts';
import type { EngineJob, EngineState, ReadinessReport } from '../domain/call/engine-state.ts';
import { systemClock } from '../lib/clock.ts';
import {
  type Logger,
  openLogger,
  openStandardOutput,
  type Paint,
  prettyLine,
} from '../lib/logger.ts';
import { ServerLog } from '../lib/server-log.ts';

interface Output {
  readonly log: Logger;
  /** The newest warnings and errors of `log`. */
  readonly serverLog: ServerLog;
  /** Shows a notice to the operator, at any log level. */
  readonly show: (notice: Notice) => void;
  /** Log lines lost since the start. */
  readonly linesLost: () => number;
}

/** Opens standard output: text for people on a terminal, one JSON object a line elsewhere, unless LOG_FORMAT says which. */
export function openOutput({ LOG_LEVEL, LOG_FORMAT }: Config): Output {
  const destination = openStandardOutput(systemClock);
  const isPretty = LOG_FORMAT === 'pretty' || (LOG_FORMAT === 'auto' && process.stdout.isTTY);
  // `styleText` obeys NO_COLOR, and colours only a terminal.
  const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });
  const pretty = { write: (line: string) => destination.write(prettyLine(line, paint)) };
  const serverLog = new ServerLog(systemClock);
  const log = serverLog.watching(openLogger(LOG_LEVEL, isPretty ? pretty : destination));
  destination.onLoss((lost) =>
    log.error(lost, 'lines of the log were lost: it could not be written'),
  );
  const show = (notice: Notice) => {
    if (isPretty) destination.write(`${notice.text(paint)}\n`);
    else for (const line of notice.lines) destination.write(jsonLine(line, systemClock.now()));
  };
  return { log, serverLog, show, linesLost: () => destination.linesLost };
}

const FIRST_START = 'First start. Keep these: the keys are shown this once.';

/** Secrets that the operator may have set before the first start. */
type SuppliedSecrets = Pick<
  Config,
  'BOOTSTRAP_LIVE_KEY' | 'BOOTSTRAP_TEST_KEY' | 'WEBHOOK_SIGNING_SECRET'
>;

const SETUP_MINUTES = SETUP_LINK_LIFE_MS / 60_000;

const JOBS: Readonly<Record<EngineJob, string>> = {
  vad: 'voice detection',
  stt: 'speech to text',
  turn: 'end of turn',
  tts: 'text to speech',
  llm: 'language model',
};

/** The first start's secrets, each once: the keys cannot be shown again. For secrets from settings, only the setting is named. */
export function bootstrapNotice(secrets: BootstrapSecrets, config: SuppliedSecrets): Notice {
  const shown = (name: keyof SuppliedSecrets, value: string) =>
    config[name] === undefined ? value : `as given in ${name}`;
  const { liveKey, testKey, signingSecrets } = secrets;
  const fields = {
    liveKey: shown('BOOTSTRAP_LIVE_KEY', liveKey),
    testKey: shown('BOOTSTRAP_TEST_KEY', testKey),
    signingSecretLive: shown('WEBHOOK_SIGNING_SECRET', signingSecrets.live),
    signingSecretTest: shown('WEBHOOK_SIGNING_SECRET', signingSecrets.test),
  };
  return {
    text: () =>
      box([
        FIRST_START,
        '',
        `live key               ${fields.liveKey}`,
        `test key               ${fields.testKey}`,
        `signing secret (live)  ${fields.signingSecretLive}`,
        `signing secret (test)  ${fields.signingSecretTest}`,
      ]),
    lines: [{ level: 'info', message: FIRST_START, fields }],
  };
}

/** How the dashboard gets its password. The address stands alone on its line, so that terminals make it a link. */
export function setupNotice(setupUrl: string): Notice {
  return {
    text: () =>
      box([
        'The dashboard has no password yet. To choose one, open this link',
        `within ${SETUP_MINUTES} minutes. It works once; the next start prints another.`,
        '',
        setupUrl,
      ]),
    lines: [
      {
        level: 'info',
        message: `The dashboard has no password yet. To choose one, open ${setupUrl} within ${SETUP_MINUTES} minutes. It works once; the next start prints another.`,
        fields: {},
      },
    ],
  };
}

/** Notice with the server's address and its engines. */
export function readyNotice(facts: {
  readonly config: Pick<Config, 'HOST' | 'PUBLIC_URL'>;
  readonly version: string;
  readonly port: number;
  readonly report: ReadinessReport;
}): Notice {
  const { config, version, port, report } = facts;
  const url = config.PUBLIC_URL.replace(/\/$/, '');
  const message = `Offhook is ${report.status.replace('_', ' ')}`;
  const listening = `${config.HOST}:${port}`;
  const failed = report.checks.filter(({ isOk }) => !isOk);
  const fields = { version, url, listening, carriers: report.carriers, failed };
  return {
    text: (paint) =>
      [
        '',
        paint('bold', `${message}.`),
        '',
        ...table([
          ['dashboard', `${url}/`],
          ['REST', `${url}/api  (documentation: ${url}/docs)`],
          ['listening on', listening],
          ...report.carriers.map(({ name, state }) => [name, state]),
          ...failed.map(({ name, state }) => [name, paint('red', state)]),
        ]),
        '',
        ...enginesText(report.engines, paint),
        '',
      ].join('\n'),
    lines: [...report.engines.map(engineLine), { level: 'info', message, fields }],
  };
}

function engineLine({ job, engine, reason, isFallback, ...rest }: EngineState): NoticeLine {
  const { limitation, replacement } = rest;
  return {
    level: isFallback ? 'warn' : 'info',
    message: 'engine chosen',
    fields: { job, engine, reason, isFallback, limitation, replacement },
  };
}

function enginesText(engines: readonly EngineState[], paint: Paint): readonly string[] {
  const rows = engines.map(({ job, engine, standIn, limitation, reason }) => [
    JOBS[job],
    engine,
    standIn === null ? reason : paint('yellow', `stand-in: ${limitation}`),
  ]);
  const ways = Map.groupBy(
    engines.flatMap(({ replacement }) => replacement ?? []),
    ({ how }) => how,
  );
  const remedies = [...ways].map(([how, which]) => [
    which.map(({ engine }) => engine).join(', '),
    how,
  ]);
  if (remedies.length === 0) return table(rows);
  return [
    ...table(rows),
    '',
    'Stand-ins are for trying the server. Better ones:',
    ...table(remedies),
  ];
}

/** Columns as wide as their longest cell. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(widest[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) => {
    const cells = row.map((cell, at) =>
      at < row.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell,
    );
    return `  ${cells.join('  ')}`;
  });
}

/** A box round lines of text. */
function box(lines: readonly string[]): string {
  const width = Math.max(...lines.map((line) => line.length));
  const edge = '─'.repeat(width + 2);
  const rows = lines.map((line) => `│ ${line.padEnd(width)} │`);
  return [`┌${edge}┐`, ...rows, `└${edge}┘`].join('\n');
}

interface NoticeLine {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Notices to the operator, at any log level: as text on a terminal, as lines of the log for programs */
export interface Notice {
  /** Several lines, without the last line feed. */
  text(paint: Paint): string;
  readonly lines: readonly NoticeLine[];
}

/** One line of the log, in the form of all others; nothing in it is hidden. */
function jsonLine({ level, message, fields }: NoticeLine, now: Date): string {
  return `${JSON.stringify({ level, time: now.toISOString(), ...fields, msg: message })}\n`;
}
