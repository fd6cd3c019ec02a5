/** The Ruby client library. */
import { join } from 'node:path';
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';
import { describeWith } from '../../support/server/programs.ts';

const LIBRARY = join(import.meta.dirname, '../../../clients/ruby/lib/offhook.rb');

await generate(['ruby']);

const CLIENT = {
  driver: ['ruby', '-w', 'clients/ruby/conformance.rb'],
  readme: {
    ...{ folder: 'ruby', fence: 'ruby', extension: '.rb' },
    interpreter: 'ruby',
    replace: { "require 'offhook'": `require '${LIBRARY}'` },
  },
};

describeWith(['ruby'], 'the Ruby client', () => {
  testOperations(CLIENT);
  testFaults(CLIENT);
});
