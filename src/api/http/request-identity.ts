/** The headers that all answers have, and what log and metrics are told of each. */
import type { ApiDeps } from '../api-env.ts';
import { securityHeaders } from './security-headers.ts';

/** Changes when an answer changes in a way that a customer's program may notice. */
export const API_VERSION = '2026-11-21';

/** Headers that are the same for every request, by pairs. */
export function commonHeaders(deps: Pick<ApiDeps, 'publicUrl'>): readonly string[] {
  return Object.entries({ 'X-API-Version': API_VERSION, ...securityHeaders(deps) }).flat();
}

/** @param answered.route the pattern that answered, such as `/api/calls/{callId}`; ids never become labels. */
export function tellOf(
  answered: {
    readonly requestId: string;
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
  },
  { log, metrics }: Pick<ApiDeps, 'log' | 'metrics'>,
): void {
  metrics.httpRequest(answered);
  // Probes come every few seconds and would bury the rest.
  const level = answered.route.startsWith('/api') ? 'info' : 'debug';
  log[level](answered, 'http: answered');
}
