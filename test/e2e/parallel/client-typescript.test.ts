/** The TypeScript client library. */
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';

await generate(['typescript']);

const CLIENT = { driver: [process.execPath, 'clients/typescript/conformance.ts'] };

testOperations(CLIENT);
testFaults(CLIENT);
