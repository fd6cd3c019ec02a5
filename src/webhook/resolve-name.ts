/** Finds the addresses of a name without letting slow name servers hold up anything else. */
import { lookup, Resolver } from 'node:dns/promises';

/** The addresses of a name, in the order in which they are to be tried. Rejects when there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

const QUERY_MS_MAX = 3000;
const QUERY_TRIES = 2;

/** Names that wait for the system's own look-up. */
const SYSTEM_QUEUE_MAX = 64;

/** Where names are looked up; each rejects where a name is not known. */
export interface NameSources {
  /** IPv4 addresses, from the name servers. */
  readonly resolve4: ResolveName;
  /** IPv6 addresses, from the name servers. */
  readonly resolve6: ResolveName;
  /** By the system: `/etc/hosts` and the like, in a thread that files need too. */
  readonly lookup: ResolveName;
}

/**
 * Asks the name servers; names that they do not know, such as those of `/etc/hosts`, are looked up by the system, one
 * at a time.
 *
 * @param sources This machine's unless given.
 */
export function nameResolver(sources: NameSources = machineSources()): ResolveName {
  const bySystem = oneAtATime(sources.lookup);
  return async (name) => {
    const answers = await Promise.allSettled([sources.resolve4(name), sources.resolve6(name)]);
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    );
    return addresses.length > 0 ? addresses : bySystem(name);
  };
}

function machineSources(): NameSources {
  const resolver = new Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES });
  return {
    resolve4: (name) => resolver.resolve4(name),
    resolve6: (name) => resolver.resolve6(name),
    lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  };
}

function oneAtATime(look: ResolveName): ResolveName {
  let isBusy = false;
  const waiting: (() => void)[] = [];
  return async (name) => {
    if (waiting.length >= SYSTEM_QUEUE_MAX) throw tooMany(name);
    // A look-up that ends hands its place over, so that a newer one cannot take it.
    if (isBusy) await new Promise<void>((resolve) => waiting.push(resolve));
    isBusy = true;
    try {
      return await look(name);
    } finally {
      const next = waiting.shift();
      if (next === undefined) isBusy = false;
      else next();
    }
  };
}

function tooMany(name: string): Error {
  const message = `Cannot look up "${name}": too many names wait already`;
  return Object.assign(new Error(message), { code: 'EAI_AGAIN' });
}
