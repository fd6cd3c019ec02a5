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

  test.each(['', '.', '..'])('an id of "%s" is refused before anything is sent', (id) => {
    const code = `
import sys; sys.path.insert(0, "${SOURCES}")
from offhook import Offhook
Offhook(api_key="svc_test_x", base_url="http://127.0.0.1:9").agents.get("${id}")`;

    const { stderr } = spawnSync(PYTHON, ['-c', code]);

    expect(stderr.toString()).toContain(`ValueError: Cannot use "${id}" as agent_id`);
  });
});
