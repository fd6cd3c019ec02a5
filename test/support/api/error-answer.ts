/** What every answer of the interface has, and every error besides. */

/** In small letters. */
export const API_HEADERS: string[] = [
  'x-request-id',
  'x-api-version',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-content-type-options',
  'content-security-policy',
];

interface ErrorBody {
  readonly error?: {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly status?: unknown;
    readonly requestId?: unknown;
    readonly details?: readonly { readonly path: string; readonly message: string }[];
  };
}

/** What an error answer lacks; empty when it is as it must be. */
export async function errorFaults(
  response: Response,
  expected: { readonly status: number; readonly code?: string; readonly detail?: string },
): Promise<readonly string[]> {
  const text = await response.text();
  const { error = {} } = parsed(text);
  const { status, code = error.code, detail } = expected;
  const paths = (error.details ?? []).map(({ path }) => path);
  const checks: readonly (readonly [isGood: boolean, fault: string])[] = [
    [response.status === status, `answered ${response.status}, not ${status}: ${text}`],
    [error.status === response.status, `has status ${error.status} in its body`],
    [error.code === code, `has code ${error.code}, not ${code}`],
    [/^Cannot .*[^.]$/s.test(String(error.message)), `says "${error.message}"`],
    [/^req_[0-9A-Za-z]{24}$/.test(String(error.requestId)), 'has no request id in its body'],
    [error.requestId === response.headers.get('X-Request-Id'), 'has two request ids'],
    [response.headers.get('Content-Type') === 'application/json', 'is not application/json'],
    [detail === undefined || paths.includes(detail), `names ${paths.join()}, not ${detail}`],
    [(error.details !== undefined) === (error.code === 'VALIDATION_ERROR'), 'has other details'],
    [!/node_modules|\.ts:|SQLITE|at .*\(/.test(text), `tells of the inside: ${text}`],
    [mayRetry(response.status) === hasWait(response), 'has a wrong Retry-After'],
    ...API_HEADERS.map((name) => [response.headers.has(name), `has no ${name}`] as const),
  ];
  return checks.filter(([isGood]) => !isGood).map(([, fault]) => fault);
}

function mayRetry(status: number): boolean {
  return status === 429 || status === 503;
}

function hasWait({ headers }: Response): boolean {
  return /^[1-9]\d*$/.test(headers.get('Retry-After') ?? '');
}

function parsed(text: string): ErrorBody {
  try {
    return JSON.parse(text) as ErrorBody;
  } catch {
    // No JSON has none of the fields, and the faults say so.
    return {};
  }
}
