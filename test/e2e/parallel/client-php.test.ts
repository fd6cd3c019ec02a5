/** The PHP client library. */
import { join } from 'node:path';
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';
import { describeWith } from '../../support/server/programs.ts';

const AUTOLOADER = join(import.meta.dirname, '../../../clients/php/autoload.php');

await generate(['php']);

const CLIENT = {
  driver: ['php', 'clients/php/conformance.php'],
  readme: {
    ...{ folder: 'php', fence: 'php', extension: '.php' },
    interpreter: 'php',
    replace: { "require 'vendor/autoload.php'": `<?php require '${AUTOLOADER}'` },
  },
  hasOneKindOfArray: true,
};

describeWith(['php'], 'the PHP client', () => {
  // PSR-18 has no time-outs and no cuts of its own: the faults are those of curl.
  testOperations({ ...CLIENT, flavours: ['curl', 'PSR-18'] });
  testFaults(CLIENT);
});
