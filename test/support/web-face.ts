/** The interface as `fetch` would ask it, for tests that need no connection. */
import type { ApiAnswer } from '../../src/api/http/api-answer.ts';
import type { ApiRequest } from '../../src/api/http/api-request.ts';
import { requestTarget } from '../../src/api/http/request-target.ts';

type Answer = (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>;

/** Asks the interface. @param remoteAddress that the request comes from. */
export async function askByFetch(
  answer: Answer,
  request: Request,
  remoteAddress?: string,
): Promise<Response> {
  const { status, headers, body } = await answer(apiRequestOf(request, remoteAddress));
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as [string, string]] : [],
  );
  return new Response(body as string | Uint8Array<ArrayBuffer> | null, { status, headers: pairs });
}

function apiRequestOf(request: Request, remoteAddress: string | undefined): ApiRequest {
  const { method, signal, url, headers } = request;
  return {
    ...requestTarget(url, new URL(url).host),
    ...{ method, signal, remoteAddress },
    header: (name) => headers.get(name) ?? undefined,
    readBody: async (bytesMax) => {
      const bytes = Buffer.from(await request.arrayBuffer());
      return bytes.length > bytesMax ? undefined : bytes;
    },
  };
}
