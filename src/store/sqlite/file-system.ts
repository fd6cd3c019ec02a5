/** Keeps the database off network file systems, where SQLite's locks cannot be trusted. */
import { statfsSync } from 'node:fs';

/** Magic numbers of statfs(2). @see linux/magic.h */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
  [0x564c, 'NetWare'],
  [0x0bd00bd0, 'Lustre'],
]);

/** Tells the type number of the file system that a folder is on. */
export type FileSystemTypeOf = (folder: string) => number;

const systemTypeOf: FileSystemTypeOf = (folder) => statfsSync(folder).type;

/** @throws {Error} naming the folder and its file system. */
export function refuseNetworkFileSystem(folder: string, typeOf = systemTypeOf): void {
  // The kernel gives a signed word on some machines.
  const name = NETWORK_FILE_SYSTEMS.get(typeOf(folder) >>> 0);
  if (name !== undefined) {
    throw new Error(
      `Cannot keep the database in "${folder}": it is on ${name}, and SQLite needs a local disk`,
    );
  }
}
