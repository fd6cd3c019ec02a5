/** The Python client library, blocking and with asyncio. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';
import { describeWithout } from '../../support/server/programs.ts';

const SOURCES = join(import.meta.dirname, '../../../clients/python/src');

// Debian's own Python, which has Debian's httpx.
const PYTHON = '/usr/bin/python3';

await generate(['python']);

const CLIENT = {
  driver: [PYTHON, 'clients/python/conformance.py'],
  flavours: ['blocking', 'asyncio'],
  readme: {
    ...{ folder: 'python', fence: 'python', extension: '.py' },
    interpreter: PYTHON,
    replace: { 'from offhook': `import sys; sys.path.insert(0, "${SOURCES}")\nfrom offhook` },
  },
};

const hasHttpx = spawnSync(PYTHON, ['-c', 'import httpx']).status === 0;

describeWithout(hasHttpx ? [] : ['python3-httpx'], 'the Python client', () => {
  testOperations(CLIENT);
  testFaults(CLIENT);

  /** What a call with wrong arguments prints; nothing listens where it would be sent. */
  function refusalOf(call: string): string {
    const code = `
import sys; sys.path.insert(0, "${SOURCES}")
from offhook import Offhook
Offhook(api_key="svc_test_x", base_url="http://127.0.0.1:9").agents.${call}`;
    return spawnSync(PYTHON, ['-c', code]).stderr.toString();
  }

  test.each(['', '.', '..'])('an id of "%s" is refused before anything is sent', (id) => {
    expect(refusalOf(`get("${id}")`)).toContain(`ValueError: Cannot use "${id}" as agent_id`);
  });

  test('a header that cannot be sent is an error of the caller', () => {
    const call = 'delete("a", if_match="a\\nb", options={"max_retries": 0})';

    expect(refusalOf(call)).toMatch(/\nValueError: /);
  });

  test('an address that is none is refused', () => {
    const refusal = refusalOf('get; Offhook(api_key="x", base_url="voice.example")');

    expect(refusal).toContain('ValueError: Cannot use the base URL "voice.example"');
  });
});
