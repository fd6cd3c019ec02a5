/** Finds the addresses of a name without letting slow name servers hold up anything else. */
import { lookup, Resolver } from 'node:dns/promises';

/** The addresses of a name, in the order in which they are to be tried. Rejects when there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

const QUERY_MS_MAX = 3000;
const QUERY_TRIES = 2;

/** The system's own look-up blocks one of four threads that files need too. */
const SYSTEM_LOOKUPS_MAX = 1;

/** Looks names up that wait for the system, so that the queue cannot grow for ever. */
const SYSTEM_QUEUE_MAX = 64;

/**
 * Asks the name servers; names that they do not know, such as those of `/etc/hosts`, are looked up by the system, one
 * at a time.
 */
export function nameResolver(): ResolveName {
  const resolver = new Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES });
  const bySystem = systemLookup();
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    );
    return addresses.length > 0 ? addresses : bySystem(name);
  };
}

function systemLookup(): ResolveName {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (name) => {
    if (waiting.length >= SYSTEM_QUEUE_MAX) throw tooMany(name);
    if (running < SYSTEM_LOOKUPS_MAX) running += 1;
    // Whoever has done hands the place over, so that nobody who comes meanwhile takes it.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return (await lookup(name, { all: true })).map(({ address }) => address);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

function tooMany(name: string): Error {
  const message = `Cannot look up "${name}": too many names wait already`;
  return Object.assign(new Error(message), { code: 'EAI_AGAIN' });
}
