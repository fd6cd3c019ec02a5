/** Small PDFs for tests, written by hand. */
import { deflateSync } from 'node:zlib';

/** A line of text: size of its letters, distance from the foot of the page, words. */
export type PdfText = readonly [sizePt: number, yPt: number, text: string];

/** Makes a PDF with a page for each list of lines. @param options.stream the content of every page instead of its lines. */
export function buildPdf(
  pages: readonly (readonly PdfText[])[],
  options: { readonly stream?: Buffer; readonly isFlate?: boolean } = {},
): Buffer {
  const { isFlate = false } = options;
  const packed = (content: Buffer) => (isFlate ? deflateSync(content, { level: 9 }) : content);
  const shared = options.stream && packed(options.stream);
  const numbers = pages.map((_page, index) => 4 + 2 * index);
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${numbers.map((n) => `${n} 0 R`).join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  for (const [index, lines] of pages.entries()) {
    const number = 4 + 2 * index;
    const bytes = shared ?? packed(Buffer.from(lines.map(written).join('\n')));
    const filter = isFlate ? ' /Filter /FlateDecode' : '';
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${number + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      Buffer.concat([
        Buffer.from(`<< /Length ${bytes.length}${filter} >>\nstream\n`),
        bytes,
        Buffer.from('\nendstream'),
      ]),
    );
  }
  return assembled(objects);
}

function written([sizePt, yPt, text]: PdfText): string {
  return `BT /F1 ${sizePt} Tf 72 ${yPt} Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`;
}

function assembled(objects: readonly (string | Buffer)[]): Buffer {
  let bytes = Buffer.from('%PDF-1.7\n');
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(bytes.length);
    const body = typeof object === 'string' ? Buffer.from(object) : object;
    bytes = Buffer.concat([
      bytes,
      Buffer.from(`${index + 1} 0 obj\n`),
      body,
      Buffer.from('\nendobj\n'),
    ]);
  }
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${bytes.length}\n%%EOF\n`;
  return Buffer.concat([bytes, Buffer.from(end)]);
}
