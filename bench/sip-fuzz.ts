/** Feeds mutants of the RFC 4475 messages to the parser: `node bench/sip-fuzz.ts [count] [seed]`. */
import { parseDecimal } from '../src/sip/message/grammar.ts';
import { fuzz } from '../test/support/sip/sip-mutants.ts';

const [countText = '1000000', seedText = '1'] = process.argv.slice(2);
const count = parseDecimal(countText, 1e9);
const seed = parseDecimal(seedText, 0xffffffff);
if (count === undefined || seed === undefined) {
  console.error(`Cannot fuzz "${countText}" mutants from seed "${seedText}": expected two numbers`);
  process.exit(1);
}

const startedAtMs = performance.now();
const { accepted, refused, dropped, slowestMs } = fuzz({ count, seed });
const tookSeconds = (performance.now() - startedAtMs) / 1000;

console.log(`${count} mutants, seed ${seed}, ${tookSeconds.toFixed(1)} s`);
console.log(`accepted ${accepted}, refused with a status ${refused}, dropped ${dropped}`);
console.log(`uncaught 0, slowest parse ${slowestMs.toFixed(2)} ms`);
