/** `admin doctor`: what the server of these settings says of itself at `/readyz`. */
import type { Config } from '../../config/config.ts';
import type { EngineState, ReadinessReport } from '../../domain/call/engine-state.ts';
import { urlHost } from '../../lib/local-routes.ts';
import type { Finding } from './finding.ts';

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
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : urlHost(HOST);
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(`http://${host}:${PORT}/readyz`, { signal });
    const report = (await response.json()) as Partial<ReadinessReport>;
    return Array.isArray(report.engines) && Array.isArray(report.checks)
      ? (report as ReadinessReport)
      : undefined;
  } catch {
    // Nothing listens there, or another program does: the check of the port says which.
    return undefined;
  }
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
      advice: isWell || name === 'sip' ? undefined : `npm run admin -- trunk check ${name}`,
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
