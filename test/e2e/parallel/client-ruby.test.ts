/** The Ruby client library. */
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';

await generate(['ruby']);

const CLIENT = { driver: ['ruby', '-w', 'clients/ruby/conformance.rb'] };

testOperations(CLIENT);
testFaults(CLIENT);
