/** The TypeScript client's package, as its own build makes it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../clients/typescript');

const run = promisify(execFile);

test('the package of the TypeScript client has what it exports, generated files included', async () => {
  await run(process.execPath, ['build.ts'], { cwd: FOLDER });
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await run('npm', pack, { cwd: FOLDER });
  const built = await import(join(FOLDER, 'dist/index.js'));
  const client = new built.Offhook({ apiKey: 'svc_test_x', baseUrl: 'http://voice.example' });

  for (const file of ['index.js', 'index.d.ts', 'generated/types.d.ts', 'generated/resources.js']) {
    expect(stdout).toContain(`"dist/${file}"`);
  }
  expect(stdout).toContain('"LICENSE"');
  expect(stdout).not.toContain('conformance');
  expect(typeof client.agents.create).toBe('function');
});
