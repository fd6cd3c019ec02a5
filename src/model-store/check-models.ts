/** Looks whether the files of models are there and whole, without any network. */
import { sumOfFile } from './file-sum.ts';
import { type PlannedFile, sizeOf } from './plan.ts';

/** `unknown`: it is there, and nobody has ever said what its checksum should be. */
export type FileState = 'right' | 'wrong' | 'missing' | 'unknown';

export interface CheckedFile {
  readonly file: PlannedFile;
  readonly state: FileState;
}

/** Reads every file whole. */
export async function checkFiles(
  files: readonly PlannedFile[],
  options: { readonly signal: AbortSignal; onFile(checked: CheckedFile): void },
): Promise<readonly CheckedFile[]> {
  const checked: CheckedFile[] = [];
  for (const file of files) {
    const found = { file, state: await stateOf(file, options.signal) };
    options.onFile(found);
    checked.push(found);
  }
  return checked;
}

async function stateOf(file: PlannedFile, signal: AbortSignal): Promise<FileState> {
  const size = sizeOf(file.file);
  if (size === null) return 'missing';
  if (file.expected === null) return 'unknown';
  if (file.bytes !== null && size !== file.bytes) return 'wrong';
  const sum = await sumOfFile(file.file, file.expected, { signal });
  return sum.finish(file.expected).isRight ? 'right' : 'wrong';
}

/** From the sizes alone, for a list that is to come at once. */
export function quickStateOf(files: readonly PlannedFile[]): 'there' | 'partly' | 'not there' {
  const there = files.filter(({ file, bytes }) => {
    const size = sizeOf(file);
    return size !== null && (bytes === null || bytes === size);
  });
  if (there.length === files.length) return 'there';
  return there.length === 0 ? 'not there' : 'partly';
}
