/** Opens the port of a server, or says why it cannot be. */
import type { Server } from 'node:http';

/** @throws {Error} naming address and port, and what stands in the way. */
export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = REASONS[error.code ?? ''] ?? error.message;
      const message = `Cannot open HTTP port "${host}:${port}": ${why}`;
      reject(new Error(message, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or set PORT',
  EADDRNOTAVAIL: 'this machine has no such address; set HOST',
  EACCES: 'this user may not open it; set PORT to 1024 or more',
};
