/** Reads the carriers of the operator's own file. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, readConfig, readSettingsFile } from '../../config/config.ts';
import { parseTrunks, type Trunk } from '../../telephony/trunks/trunks.ts';

/**
 * Reads the trunks of `SIP_TRUNKS`. A server that was installed as an npm package has no folder `sip-config` until its operator
 * makes one: it has no trunks of a file then, and the log says so.
 *
 * @throws {Error} naming the file and what is wrong in it.
 */
export function readTrunksFile({ SIP_TRUNKS }: Pick<Config, 'SIP_TRUNKS'>): readonly Trunk[] {
  const isGiven = SIP_TRUNKS !== readConfig({}).SIP_TRUNKS;
  if (!isGiven && !existsSync(dirname(SIP_TRUNKS))) return [];
  return parseTrunks(readSettingsFile(SIP_TRUNKS), SIP_TRUNKS);
}
