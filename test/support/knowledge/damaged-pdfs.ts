/** Reads so many damaged PDFs in a process of its own, as the server does, and says how many gave a text or an error. */
import fc from 'fast-check';
import { pdfText } from '../../../src/tool/knowledge/document-text.ts';
import { buildPdf } from './build-pdf.ts';

const SAMPLE = buildPdf([
  [
    [18, 700, 'Opening hours'],
    [11, 670, 'We are open from nine to five.'],
  ],
  [[11, 700, 'Closed on holidays.']],
]);

const WOUNDS = fc.array(
  fc.record({ at: fc.nat(SAMPLE.length - 1), byte: fc.nat(255), drop: fc.nat(40) }),
  { minLength: 1, maxLength: 12 },
);

function damaged(wounds: readonly { at: number; byte: number; drop: number }[]): Uint8Array {
  let bytes = Buffer.from(SAMPLE);
  for (const { at, byte, drop } of wounds) {
    const place = at % Math.max(1, bytes.length);
    const rest = bytes.subarray(place + drop);
    bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from([byte]), rest]);
  }
  return new Uint8Array(bytes);
}

process.on('unhandledRejection', () => undefined);
const count = Number(process.argv[2]);
let texts = 0;
for (const wounds of fc.sample(WOUNDS, { numRuns: count, seed: 1 })) {
  texts += await pdfText(damaged(wounds), 100_000).then(
    () => 1,
    () => 0,
  );
}
process.stdout.write(`${count} read: ${texts} texts, ${count - texts} errors\n`);
