/** The TypeScript client library. */
import { join } from 'node:path';
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';

const SOURCE = join(import.meta.dirname, '../../../clients/typescript/src/index.ts');

await generate(['typescript']);

const CLIENT = {
  driver: [process.execPath, 'clients/typescript/conformance.ts'],
  readme: {
    ...{ folder: 'typescript', fence: 'ts', extension: '.mts' },
    interpreter: process.execPath,
    replace: { '@offhook/client': SOURCE },
  },
};

testOperations(CLIENT);
testFaults(CLIENT);
