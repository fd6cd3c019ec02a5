/** Finds the user name and password for a carrier's challenge; pure */
import { numberOfHeader } from './number.ts';
import { hasNumber } from './trunk-table.ts';
import type { Trunk } from './trunks.ts';

export interface TrunkCredentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Whom to be when a server asks.
 *
 * @param realm as the challenge names it.
 * @param requestUri where the refused request was going: a password is for its own carrier alone.
 * @param from From of the refused request, which tells several accounts at one carrier apart.
 * @returns undefined when no trunk has credentials for it.
 */
export type FindCredentials = (
  realm: string,
  requestUri: string,
  from?: string,
) => TrunkCredentials | undefined;

export function credentialsOf(trunks: readonly Trunk[]): FindCredentials {
  return (realm, requestUri, from = '') => {
    const host = hostOfUri(requestUri);
    const possible = trunks.filter(
      (trunk) =>
        [trunk.domain, trunk.proxy.host].some((own) => own?.toLowerCase() === host) &&
        (trunk.realm === undefined || trunk.realm === realm),
    );
    const trunk = possible.find((each) => isOf(each, numberOfHeader(from))) ?? possible[0];
    if (trunk?.username === undefined || trunk.password === undefined) return undefined;
    return { username: trunk.username, password: trunk.password };
  };
}

function isOf(trunk: Trunk, caller: string): boolean {
  return trunk.username === caller || trunk.callerId === caller || hasNumber(trunk, caller);
}

/** Host of a sip URI, without port and brackets. */
function hostOfUri(uri: string): string {
  const [, host = ''] = /^sips?:(?:[^@]*@)?(\[[^\]]*\]|[^:;?]*)/i.exec(uri) ?? [];
  return host.replace(/^\[|\]$/g, '').toLowerCase();
}
