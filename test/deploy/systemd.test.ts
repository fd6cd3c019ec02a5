import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { execForm, stagesOf } from '../support/server/dockerfile.ts';
import { describeWith } from '../support/server/programs.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const UNIT = read('examples/systemd/offhook.service');
const UNITS = ['offhook.service', 'drachtio.service', 'freeswitch.service'];

const folder = mkdtempSync(join(tmpdir(), 'offhook-systemd-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function settingOf(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1];
}

test('offhook.service runs the same command as npm start and the image', () => {
  const { scripts } = JSON.parse(read('package.json'));
  // Without exec, npm's shell stays between: a SIGTERM to npm ends the shell and leaves the server behind.
  const [exec, ...command] = scripts.start.split(' && ').at(-1).split(' ');
  const last = stagesOf(read('Dockerfile')).at(-1)?.instructions ?? [];
  const inImage = execForm(last.find(({ name }) => name === 'CMD')?.args ?? '');

  expect(settingOf('ExecStart')?.replace(/^\S*\//, '')).toBe(command.join(' '));
  expect(inImage).toEqual(command);
  expect(exec).toBe('exec');
});

test('offhook.service kills nothing before the server has drained', () => {
  const minutes = Number(/^(\d+)min$/.exec(settingOf('TimeoutStopSec') ?? '')?.[1]);

  expect(minutes * 60).toBeGreaterThan(readConfig({}).DRAIN_TIMEOUT_SECONDS + 5);
  expect(settingOf('KillMode')).toBe('mixed');
});

test('offhook.service lets media threads have the priority that they ask for, and no capability', () => {
  const source = read('src/media/worker/thread-priority.ts');
  const asked = /FIFO_PRIORITY = '(\d+)'/.exec(source)?.[1];
  const niceness = /NICENESS = (-\d+)/.exec(source)?.[1];

  expect([settingOf('LimitRTPRIO'), settingOf('LimitNICE')]).toEqual([asked, niceness]);
  expect(read('docker-compose.yml')).toContain(`rtprio: ${asked}`);
  expect(settingOf('CapabilityBoundingSet')).toBe('');
  expect(UNIT).not.toMatch(/^(RestrictRealtime|MemoryDenyWriteExecute)=/m);
});

describeWith(['systemd-analyze'], 'systemd-analyze', () => {
  /** The unit with a program that is there, as every machine has another. */
  function analyze(
    unit: string,
    ...words: string[]
  ): { readonly status: number | null; readonly stderr: string } {
    const file = join(folder, 'one.service');
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
    return spawnSync('systemd-analyze', [...words, file], { encoding: 'utf8' });
  }

  test.each(UNITS)('verify has nothing to say of %s', (name) => {
    const { status, stderr } = analyze(read(`examples/systemd/${name}`), 'verify', '--man=no');

    expect([status, stderr]).toEqual([0, '']);
  });

  test('verify finds a wrong line', () => {
    const { stderr } = analyze(UNIT.replace('ProtectHome', 'ProtectHom'), 'verify', '--man=no');

    expect(stderr).toContain('ProtectHom');
  });

  test.each(
    UNITS,
  )('security puts the exposure of %s at 2.5 of 10 or less, and that of an open unit above', (name) => {
    const unit = read(`examples/systemd/${name}`);
    const words = ['security', '--offline=true', '--threshold=25', '--no-pager'];

    const [ours, open] = [
      analyze(unit, ...words),
      analyze(unit.replace(/^(Protect|Restrict|System).*$/gm, ''), ...words),
    ];

    expect([ours.status, open.status]).toEqual([0, 1]);
  });
});
