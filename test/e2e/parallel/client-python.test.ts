/** The Python client library, blocking and with asyncio. */
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';

await generate(['python']);

// Debian's own Python, which has Debian's httpx.
const CLIENT = {
  driver: ['/usr/bin/python3', 'clients/python/conformance.py'],
  flavours: ['blocking', 'asyncio'],
};

testOperations(CLIENT);
testFaults(CLIENT);
