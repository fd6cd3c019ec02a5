import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMPILE_CACHE } from '../support/compile-cache.ts';
import { freePort } from '../support/free-ports.ts';

const ROOT = join(import.meta.dirname, '../..');

test('npm run demo holds a conversation, shows both sides and the record, and ends with 0', async () => {
  const child = spawn(process.execPath, ['examples/demo/demo.ts'], {
    cwd: ROOT,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      LLM: 'scripted',
      PORT: String(await freePort()),
    },
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const status = await new Promise((resolve) => child.on('close', resolve));

  expect(output).toContain('caller  Hello, can you hear me?');
  expect(output).toContain('understood: What are your opening hours?');
  expect(output).toContain('(interrupts)');
  expect(output).toContain('"endReason": "agent_hangup"');
  expect(output).toContain('recordings/call_');
  expect(status, output).toBe(0);
});
