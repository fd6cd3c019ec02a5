/** Collects an answer's headers in a plain object: the HTTP port writes it as it is, and would have to take a `Headers` apart. */
import type { MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ApiContext, ApiEnv } from '../api-env.ts';

/** Comes first. Handlers call `context.header` and `context.json` as ever; other ways to answer get the headers too. */
export const plainHeaders: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const headers: Record<string, string> = {};
  let answer: Response | undefined;
  context.header = (name: string, value?: string) => {
    if (value === undefined)
      throw new TypeError(`Cannot set the header "${name}": it has no value`);
    headers[name.toLowerCase()] = value;
    answer?.headers.set(name, value);
  };
  const { json } = context;
  const plainJson = (body: object, status: ContentfulStatusCode, more?: Record<string, string>) => {
    if (more !== undefined) return json(body, status, more);
    headers['content-type'] = 'application/json';
    answer = new Response(JSON.stringify(body), { status, headers });
    return answer;
  };
  context.json = plainJson as ApiContext['json'];
  await next();
  if (context.res === answer) return;
  for (const [name, value] of Object.entries(headers)) context.res.headers.set(name, value);
};
