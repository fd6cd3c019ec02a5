/** Stands where a page has nothing to show: says in which environment the linked thing exists, and leads there. */

import { isMissing } from '../api-error.ts';
import { client, environment, look, t } from '../app-state.ts';
import { Shown } from './page.tsx';
import { useLoad } from './use-load.ts';

export function Missing(props: {
  readonly what: 'agent' | 'call' | 'endpoint';
  /** Path of the thing in the API. */
  readonly path: string;
}) {
  const { what, path } = props;
  const here = environment.value;
  const there = here === 'live' ? 'test' : 'live';
  const loaded = useLoad((signal) => isThere(path, there, signal), [path, there]);
  const names = { here: t(`environment.${here}`), there: t(`environment.${there}`) };
  return (
    <Shown loaded={loaded}>
      {(isElsewhere) =>
        isElsewhere ? (
          <div class="notice" role="alert">
            <p>{t(`missing.${what}Elsewhere`, names)}</p>
            <button type="button" class="main" onClick={() => look(there)}>
              {t('missing.switch', names)}
            </button>
          </div>
        ) : (
          <p class="empty" role="alert">
            {t(`missing.${what}`, names)}
          </p>
        )
      }
    </Shown>
  );
}

async function isThere(
  path: string,
  there: 'live' | 'test',
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.in(there).api(path, { signal });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
