/** The checksum that a model hub declares for a file in the headers of its answer; pure */
import type { ExpectedSum } from './file-sum.ts';

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Reads the sum out of an answer's headers.
 *
 * Large files: `x-linked-etag` is their SHA-256. Small ones lie in git itself: the `etag` is the SHA-1 of the git blob. Any
 * other server's `etag` says nothing about the bytes; a hub is known by `x-repo-commit`.
 *
 * @returns null when none is declared.
 * @see huggingface_hub, `get_hf_file_metadata`; git, "blob" objects
 */
export function declaredSumOf(headers: Headers): ExpectedSum | null {
  const linked = unquoted(headers['x-linked-etag']);
  const bytes = lengthIn(headers['x-linked-size']);
  if (/^[0-9a-f]{64}$/.test(linked)) return { algorithm: 'sha256', hex: linked, bytes };
  const isHub = headers['x-repo-commit'] !== undefined;
  const etag = linked === '' && isHub ? unquoted(headers.etag) : linked;
  const gitBytes = bytes ?? lengthIn(headers['content-length']);
  if (!/^[0-9a-f]{40}$/.test(etag) || gitBytes === null) return null;
  return { algorithm: 'git-sha1', hex: etag, bytes: gitBytes };
}

/** The commit that the hub answered for; null when it says none. */
export function declaredCommitOf(headers: Headers): string | null {
  const commit = headers['x-repo-commit'];
  return commit !== undefined && /^[0-9a-f]{40}$/.test(commit) ? commit : null;
}

function unquoted(etag: string | undefined): string {
  return (etag ?? '').replace(/^W\//, '').replaceAll('"', '').toLowerCase();
}

function lengthIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
