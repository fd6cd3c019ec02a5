/** The PHP client library. */
import { testFaults } from '../../../clients/conformance/conformance.ts';

testFaults({ driver: ['php', 'clients/php/conformance.php'] });
