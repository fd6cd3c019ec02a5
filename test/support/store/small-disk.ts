/** File systems of a few MiB, for tests of full and failing disks; only root may mount them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, type TestContext } from 'vitest';

export type DiskType = 'tmpfs' | 'ext4';

/** Skips a test that needs a file system of its own where this process may mount none, and says why. */
export function skipWithoutMount(context: TestContext, type: DiskType): void {
  context.skip(!canMount(type), `a ${type} of its own has to be mounted, which needs root`);
}

/** Whether this process can mount such a file system. */
export function canMount(type: DiskType): boolean {
  if (process.getuid?.() !== 0) return false;
  if (type === 'ext4' && !existsSync('/sbin/mkfs.ext4')) return false;
  const base = mkdtempSync(join(tmpdir(), 'offhook-try-'));
  const image = join(base, 'image');
  writeFileSync(image, Buffer.alloc(4 * 1024 * 1024));
  if (type === 'ext4') spawnSync('/sbin/mkfs.ext4', ['-q', image]);
  const args =
    type === 'ext4' ? ['-o', 'loop', image, base] : ['-t', 'tmpfs', '-o', 'size=1m', 'none', base];
  const isMounted = spawnSync('mount', args).status === 0;
  if (isMounted) spawnSync('umount', ['-l', base]);
  rmSync(base, { recursive: true, force: true });
  return isMounted;
}

/** A file system of its own; unmounted when the test is over, also while files on it are open. */
export function mounted(options: { readonly type: DiskType; readonly sizeMiB: number }): string {
  const base = mkdtempSync(join(tmpdir(), 'offhook-disk-'));
  const folder = join(base, 'mnt');
  mkdirSync(folder);
  if (options.type === 'tmpfs') {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${options.sizeMiB}m`, 'none', folder]);
  } else {
    const image = join(base, 'image');
    writeFileSync(image, Buffer.alloc(options.sizeMiB * 1024 * 1024));
    execFileSync('/sbin/mkfs.ext4', ['-q', image]);
    execFileSync('mount', ['-o', 'loop,errors=remount-ro', image, folder]);
  }
  onTestFinished(() => {
    spawnSync('umount', ['-l', folder]);
    rmSync(base, { recursive: true, force: true });
  });
  return folder;
}

/** Fills what room is left, in a file named `ballast`. @param leaveKiB stays free. */
export function fill(folder: string, { leaveKiB = 0 } = {}): void {
  const ballast = join(folder, 'ballast');
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k']);
  if (leaveKiB > 0) execFileSync('truncate', ['-s', `-${leaveKiB}K`, ballast]);
}
