/** Errors of requests, in the server's own words; pure */

interface FieldError {
  readonly path: string;
  readonly message: string;
}

interface ErrorParts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly details?: readonly FieldError[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** An answer that was not a success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  declare readonly status: number;
  declare readonly code: string;
  declare readonly requestId?: string;
  declare readonly details?: readonly FieldError[];
  declare readonly retryAfterSeconds?: number;

  constructor({ message, ...parts }: ErrorParts, options?: ErrorOptions) {
    super(message, options);
    Object.assign(this, parts);
  }
}

/** Whether the error says that there is no such thing in the environment. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Reads the error envelope; any other body becomes an error that names the status. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error } = (body ?? {}) as { readonly error?: Partial<ErrorParts> };
  const wait = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new ApiError({
    ...{ code: 'UNKNOWN', message: `HTTP ${response.status}`, ...error },
    status: response.status,
    retryAfterSeconds: Number.isFinite(wait) ? wait : undefined,
  });
}

/** Messages by the path of their field, such as `settings.maxDurationSeconds`; the first of each wins. */
export function messagesByField(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    [...(error.details ?? [])].reverse().map(({ path, message }) => [path, message]),
  );
}

/** The first message about a field or what is inside it, such as `settings.transferTargets.0.number`. */
export function messageUnder(
  wrong: Readonly<Record<string, string>>,
  path: string,
): string | undefined {
  const found = Object.entries(wrong).find(([at]) => at === path || at.startsWith(`${path}.`));
  return found?.[1];
}
