/** What customers see while the disk fails under a running server, and that it needs no restart afterwards. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

const AGENT = { name: 'Reception', greeting: 'Hello', systemPrompt: 'Be brief.' };

const mayMount = process.getuid?.() === 0 && existsSync('/sbin/mkfs.ext4');

/** A file system of its own; unmounted when the test is over, whoever still has files open on it. */
function mounted(options: { readonly type: 'tmpfs' | 'ext4'; readonly sizeMiB: number }): string {
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

function canMount(type: 'tmpfs' | 'ext4'): boolean {
  if (!mayMount) return false;
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

async function serverOn(dataDir: string): Promise<TestServer> {
  const server = await startServer({ dataDir });
  onTestFinished(() => server.stop());
  return server.ready();
}

const health = async (server: TestServer, path: string) =>
  (await fetch(`${server.baseUrl}${path}`)).status;

/** What `/readyz` says once it has noticed, which it must within 2 s. */
async function notReady(server: TestServer): Promise<number> {
  const deadlineMs = performance.now() + 2000;
  for (;;) {
    const status = await health(server, '/readyz');
    if (status !== 200 || performance.now() > deadlineMs) return status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Fills what room is left. */
function fill(folder: string): void {
  spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'ballast')}`, 'bs=4k']);
}

test.runIf(canMount('tmpfs'))(
  'a full disk: 503 on every route, nothing half-written, and all well again when there is room',
  async () => {
    const folder = mounted({ type: 'tmpfs', sizeMiB: 24 });
    const server = await serverOn(folder);
    await server.api('POST', '/api/agents', AGENT);
    fill(folder);

    let made = 1;
    let during = await server.api('POST', '/api/agents', AGENT);
    let readiness = 200;
    // The log has room again when it was brought in meanwhile: the disk is full when neither an agent nor a probe fits.
    for (let tries = 0; readiness === 200 && tries < 500; tries += 1) {
      if (during.status === 503) readiness = await notReady(server);
      else made += 1;
      if (readiness === 200) during = await server.api('POST', '/api/agents', AGENT);
    }
    const states = [readiness, await health(server, '/healthz')];
    rmSync(join(folder, 'ballast'));
    const after = await server.api('POST', '/api/agents', AGENT);
    const list = await server.api('GET', '/api/agents');

    expect(during).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
    expect(states).toEqual([503, 200]);
    expect(after.status).toBe(201);
    expect(list.body.total).toBe(made + 1);
  },
);

test('a locked database: 503, nothing half-written, and all well again when it is let go', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-data-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await serverOn(dataDir);
  const other = new Sqlite(join(dataDir, 'offhook.db'));
  other.exec('begin immediate');

  const during = await server.api('POST', '/api/agents', AGENT);
  other.close();
  const after = await server.api('POST', '/api/agents', AGENT);
  const list = await server.api('GET', '/api/agents');

  expect(during).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
  expect(after.status).toBe(201);
  expect(list.body.total).toBe(1);
});

test.runIf(canMount('ext4'))(
  'a disk that turns read-only: 503, the process lives, and what was acknowledged is still there',
  async () => {
    const folder = mounted({ type: 'ext4', sizeMiB: 24 });
    const server = await serverOn(folder);
    const before = await server.api('POST', '/api/agents', AGENT);
    const device = execFileSync('findmnt', ['-no', 'SOURCE', folder]).toString().trim();
    // The kernel itself turns the file system read-only, as it does when a disk begins to fail.
    writeFileSync(`/sys/fs/ext4/${device.replace('/dev/', '')}/trigger_fs_error`, '1');

    const during = await server.api('POST', '/api/agents', AGENT);
    const states = [await notReady(server), await health(server, '/healthz')];
    const kept = new Sqlite(join(folder, 'offhook.db'), { readonly: true });
    const agents = kept.prepare('select count(*) from agents').pluck().get();
    kept.close();

    expect(before.status).toBe(201);
    expect(during).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } });
    expect(states).toEqual([503, 200]);
    expect(agents).toBe(1);
  },
);
