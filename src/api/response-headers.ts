/** Headers that an answer has whatever it turns out to be. */
import type { ApiContext } from './api-env.ts';

/**
 * Sets headers before there is an answer; what the answer itself says of a header goes before.
 *
 * They go straight into Node's response, where there is one: Hono would collect them in a `Headers`, which is checked,
 * copied and sorted at every request.
 */
export function setHeaders(
  context: ApiContext,
  headers: readonly (readonly [name: string, value: string])[],
): void {
  const outgoing = context.env?.outgoing;
  for (const [name, value] of headers) {
    if (outgoing === undefined) context.header(name, value);
    else outgoing.setHeader(name, value);
  }
}
