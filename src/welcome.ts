/** What the operator reads on the terminal: the keys, once, and where the server can be reached; pure */
import type { Config } from './config.ts';
import type { BootstrapSecrets } from './domain/bootstrap.ts';
import { SETUP_LINK_LIFE_MS } from './domain/operator.ts';
import type { ReadinessReport } from './domain/readiness.ts';

/** A box round lines of text. */
function box(lines: readonly string[]): string {
  const width = Math.max(...lines.map((line) => line.length));
  const edge = '─'.repeat(width + 2);
  const rows = lines.map((line) => `│ ${line.padEnd(width)} │`);
  return [`┌${edge}┐`, ...rows, `└${edge}┘`].join('\n');
}

/** The first start's secrets; nobody can show the keys again. */
export function welcomeText(secrets: BootstrapSecrets): string {
  return box([
    'First start. Keep these: the keys are shown this once.',
    '',
    `live key               ${secrets.liveKey}`,
    `test key               ${secrets.testKey}`,
    `signing secret (live)  ${secrets.signingSecrets.live}`,
    `signing secret (test)  ${secrets.signingSecrets.test}`,
  ]);
}

/** How the dashboard gets its password. The address stands alone on its line, so that terminals make it a link. */
function setupText(setupUrl: string): string {
  const minutes = SETUP_LINK_LIFE_MS / 60_000;
  return box([
    'The dashboard has no password yet. To choose one, open this link',
    `within ${minutes} minutes. It works once; the next start prints another.`,
    '',
    setupUrl,
  ]);
}

/** Where to reach the server, and which engines it works with. */
export function startText(facts: {
  readonly config: Config;
  readonly port: number;
  readonly report: ReadinessReport;
  /** Sets the operator's password; undefined where there is one. */
  readonly setupUrl: string | undefined;
}): string {
  const { config, port, report, setupUrl } = facts;
  const engines = report.engines.map(({ job, engine, reason, isFallback }) => {
    const mark = isFallback ? ' (fallback)' : '';
    return `  ${job.padEnd(5)}${engine}${mark}: ${reason}`;
  });
  return [
    `Offhook is ${report.status.replace('_', ' ')}.`,
    `  REST ${config.PUBLIC_URL} (listening on ${config.HOST}:${port})`,
    `  dashboard ${config.PUBLIC_URL.replace(/\/$/, '')}/`,
    ...report.carriers.map(({ name, state }) => `  ${name}: ${state}`),
    ...engines,
    ...report.checks.filter(({ isOk }) => !isOk).map(({ name, state }) => `  ${name}: ${state}`),
    ...(setupUrl === undefined ? [] : [setupText(setupUrl)]),
  ].join('\n');
}
