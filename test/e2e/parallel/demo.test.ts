import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { COMPILE_CACHE } from '../../support/server/compile-cache.ts';
import { startServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('npm run demo holds a conversation with a server of its own, whatever runs already, and ends with 0', async () => {
  const running = await startServer();
  onTestFinished(() => running.stop());
  await running.ready();
  const child = spawn(process.execPath, ['examples/demo/demo.ts'], {
    cwd: ROOT,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      LLM: 'scripted',
      PORT: new URL(running.baseUrl).port,
    },
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const status = await new Promise((resolve) => child.on('close', resolve));

  expect(output).toContain('a caller phones a server of its own on free ports, http://127.0.0.1:');
  expect(output).toContain('caller  Hello, can you hear me?');
  expect(output).toContain('understood: What are your opening hours?');
  expect(output).toContain('(interrupts)');
  // A pause within "Hello, can you hear me?" that ends the turn costs it words.
  expect(output).toContain('word error rate  0.0 %');
  expect(output).toContain('"endReason": "agent_hangup"');
  expect(output).toContain('recordings/call_');
  expect(status, output).toBe(0);
  expect((await running.api('GET', '/api/calls')).body.data).toEqual([]);
});
