/** Pages: files of the dashboard, of `/docs` and of the manual, and the routes that serve the first two. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { parseAccept } from 'hono/utils/accept';
import type { ApiApp, ApiContext } from '../api/api-env.ts';
import { isHeld } from '../api/http/entity-tag.ts';
import { ServiceError } from '../domain/service-error.ts';

type Encoding = 'br' | 'gzip';

/** One form of a file, as it is sent. */
interface PageBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Strong: of these bytes. */
  readonly etag: string;
}

interface PageFile {
  /** `Content-Type`. */
  readonly type: string;
  readonly plain: PageBody;
  readonly encoded: Readonly<Partial<Record<Encoding, PageBody>>>;
}

/** The start page that every build has. */
const INDEX = 'index.html';

/** Bounds of the memory that the files may take. */
const FILES_MAX = 1000;
const FILE_BYTES_MAX = 8 * 1024 * 1024;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.txt': 'text/plain; charset=utf-8',
};

const ENCODED_NAMES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** The files of a build; each is read on its first request and then kept in memory. */
export class BuiltFiles {
  readonly #folder: string;
  #builtAtMs: number | undefined;
  #names: ReadonlySet<string> = new Set();
  readonly #files = new Map<string, PageFile>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether there is a build, which has a start page. */
  get isBuilt(): boolean {
    this.#refresh();
    return this.#builtAtMs !== undefined;
  }

  /**
   * @param name path in the folder, with slashes: `reference/settings.html`.
   * @returns undefined for files that the newest build did not make.
   */
  file(name: string): PageFile | undefined {
    this.#refresh();
    if (!this.#names.has(name)) return undefined;
    const file = this.#files.get(name) ?? readPageFile(join(this.#folder, name));
    this.#files.set(name, file);
    return file;
  }

  /** Forgets all files after another build. */
  #refresh(): void {
    const found = statSync(join(this.#folder, INDEX), { throwIfNoEntry: false });
    if (found?.mtimeMs === this.#builtAtMs) return;
    this.#files.clear();
    this.#names = found === undefined ? new Set() : namesBelow(this.#folder);
    this.#builtAtMs = found?.mtimeMs;
  }
}

function namesBelow(folder: string): ReadonlySet<string> {
  const names = readdirSync(folder, { withFileTypes: true, recursive: true })
    // A link might lead out of the folder.
    .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'));
  return new Set(names.slice(0, FILES_MAX));
}

/** Reads a file of a build with its packed forms. @throws {RangeError} when it is larger than any of a page's. */
function readPageFile(path: string): PageFile {
  const encoded = ENCODED_NAMES.flatMap(([encoding, ending]) => {
    const packed = `${path}${ending}`;
    const isThere = statSync(packed, { throwIfNoEntry: false })?.isFile() ?? false;
    return isThere ? [[encoding, readBody(packed)] as const] : [];
  });
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    plain: readBody(path),
    encoded: Object.fromEntries(encoded),
  };
}

/** @throws {RangeError} when the file is larger than any of the page's. */
function readBody(path: string): PageBody {
  const bytes = readFileSync(path);
  if (bytes.length > FILE_BYTES_MAX) throw new RangeError(`Cannot serve "${path}": too large`);
  const sum = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes: new Uint8Array(bytes), etag: `"${sum}"` };
}

/** Sources that the dashboard may load from: this server. Inline scripts and styles are blocked. */
const DASHBOARD_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'media-src': "'self' blob:",
  'connect-src': "'self'",
  'font-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
};

/** Scalar puts style elements of its theme into the page. */
const DOCS_POLICY = { ...DASHBOARD_POLICY, 'style-src': "'self' 'unsafe-inline'" };

const PAGE_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
  Vary: 'Accept-Encoding',
};

/** Asset names contain a hash of the content. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Adds the files of the dashboard and of `/docs`. */
export function addPageRoutes(api: ApiApp, files: BuiltFiles): void {
  addPage(api, '/', () => files.file(INDEX), {
    title: 'dashboard',
    policy: DASHBOARD_POLICY,
  });
  addPage(api, '/docs', () => files.file('docs.html'), {
    title: 'API reference',
    policy: DOCS_POLICY,
  });
  // Relative: a proxy may serve all of this under a path of its own.
  api.get('/docs/', (context) => context.body(null, 308, { Location: '../docs' }));

  api.get('/assets/:file', (context) => {
    const file = files.file(`assets/${context.req.param('file')}`);
    if (file === undefined) {
      throw new ServiceError('NOT_FOUND', 'Cannot find this file of the page: reload the page');
    }
    return sendPage(context, file, { cacheControl: FOREVER, policy: DASHBOARD_POLICY });
  });
}

type Policy = Readonly<Record<string, string>>;

function addPage(
  api: ApiApp,
  path: string,
  read: () => PageFile | undefined,
  { title, policy }: { readonly title: string; readonly policy: Policy },
): void {
  api.get(path, (context) => {
    const file = read();
    if (file !== undefined) return sendPage(context, file, { cacheControl: 'no-cache', policy });
    return sendNotBuilt(context, { title, policy });
  });
}

/** Answers 404 with a page that says how to build the missing pages. */
export function sendNotBuilt(
  context: ApiContext,
  { title, policy }: { readonly title: string; readonly policy: Policy },
): Response {
  const headers = { ...headersWith(policy), 'Content-Type': 'text/html; charset=utf-8' };
  return context.body(notBuilt(title), 404, headers);
}

function notBuilt(title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Offhook</title>
<h1>The ${title} has not been built</h1>
<p>Calls and the REST interface work without it. To build it, run <code>npm ci</code> and then <code>npm run build</code> in the
server's folder, and load this page again.</p>
<p>The OpenAPI document: <code>/api/openapi.json</code></p>
</html>
`;
}

function headersWith(policy: Policy): Record<string, string> {
  const directives = Object.entries(policy).map((directive) => directive.join(' '));
  return { ...PAGE_HEADERS, 'Content-Security-Policy': directives.join('; ') };
}

/** Sends a built file: compressed where the client accepts it, 304 where the client has it cached. */
export function sendPage(
  context: ApiContext,
  file: PageFile,
  { cacheControl, policy }: { readonly cacheControl: string; readonly policy: Policy },
): Response {
  const [encoding, body] = bodyFor(context, file);
  const headers = { ...headersWith(policy), 'Cache-Control': cacheControl, ETag: body.etag };
  if (isHeld(context.req.header('if-none-match'), body.etag)) {
    return context.body(null, 304, headers);
  }
  return context.body(body.bytes, 200, {
    ...headers,
    'Content-Type': file.type,
    'Content-Length': String(body.bytes.length),
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
  });
}

/** The shortest form that the client reads. @see RFC 9110, 12.5.3: `q=0` means not at all */
function bodyFor(
  context: ApiContext,
  { plain, encoded }: PageFile,
): readonly [Encoding | undefined, PageBody] {
  const accepted = parseAccept(context.req.header('accept-encoding')?.toLowerCase() ?? '');
  for (const encoding of ['br', 'gzip'] as const) {
    const body = encoded[encoding];
    const isAccepted = accepted.some(({ type, q }) => type === encoding && q > 0);
    if (body !== undefined && isAccepted) return [encoding, body];
  }
  return [undefined, plain];
}
