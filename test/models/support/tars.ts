/** Archives for tests, made by another hand than ours: block by block, with whatever is asked for in them. */

const BLOCK = 512;

export interface TarEntry {
  readonly path: string;
  readonly bytes?: Buffer;
  /** `0` file, `1` hard link, `2` symbolic link, `3` device, `5` folder, `x` extended header. */
  readonly type?: string;
  readonly linkTo?: string;
  /** Other than there are bytes. */
  readonly size?: number;
  /** Whether the header's own checksum is wrong. */
  readonly isDamaged?: boolean;
}

/** @see POSIX.1-1988, ustar */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const bytes = entry.bytes ?? Buffer.alloc(0);
    const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
    return [headerOf(entry, bytes), bytes, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(entry: TarEntry, bytes: Buffer): Buffer {
  const { path, type = '0', linkTo = '', size, isDamaged = false } = entry;
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write(linkTo, 157, 100);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, isDamaged ? 1 : 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
