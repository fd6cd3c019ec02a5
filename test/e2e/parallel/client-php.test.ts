/** The PHP client library. */
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';

await generate(['php']);

const CLIENT = { driver: ['php', 'clients/php/conformance.php'] };

testOperations(CLIENT);
testFaults(CLIENT);
