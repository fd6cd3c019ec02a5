/** The TypeScript client library. */
import { testFaults } from '../../../clients/conformance/conformance.ts';

testFaults({ driver: [process.execPath, 'clients/typescript/conformance.ts'] });
