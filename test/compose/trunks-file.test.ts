import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTrunksFile } from '../../src/compose/trunk-control.ts';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/secret-files.ts';

const before = process.cwd();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-trunks-'));
  process.chdir(folder);
});

afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

test('readTrunksFile reads the file that the settings name', () => {
  mkdirSync('sip-config');
  writeFileSync('sip-config/trunks.json', '[{"name":"acme","proxy":"sip.example.com"}]');

  expect(readTrunksFile(readConfig({}))).toMatchObject([{ name: 'acme' }]);
});

test('readTrunksFile reads a file that an editor began with a byte order mark', () => {
  mkdirSync('sip-config');
  writeFileSync('sip-config/trunks.json', '\uFEFF[{"name":"acme","proxy":"sip.example.com"}]');

  expect(readTrunksFile(readConfig({}))).toMatchObject([{ name: 'acme' }]);
});

test('readTrunksFile has no trunks where a new folder has no sip-config yet', () => {
  expect(readTrunksFile(readConfig({}))).toEqual([]);
});

test('readTrunksFile misses a file of sip-config, or one that the operator names', () => {
  const named = readConfig({ SIP_TRUNKS: 'elsewhere/trunks.json' });
  expect(() => readTrunksFile(named)).toThrow(ConfigError);

  mkdirSync('sip-config');
  expect(() => readTrunksFile(readConfig({}))).toThrow('Cannot read "sip-config/trunks.json"');
});
