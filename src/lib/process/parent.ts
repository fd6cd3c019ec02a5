/** The parent as a child process of ours sees it; see `child.ts` for the other side. */

/** Obeys the parent, and nobody else: the parent decides when this process ends, and it ends with its parent. */
export function obeyParent<ToChild>(obey: (message: ToChild) => void): void {
  process.on('message', (message: ToChild) => obey(message));
  // A terminal's Ctrl-C and a service manager's stop reach the whole group.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit(0));
}

export function tellParent(message: object): void {
  // The parent may be gone already; then `disconnect` ends this process.
  process.send?.(message, () => undefined);
}
