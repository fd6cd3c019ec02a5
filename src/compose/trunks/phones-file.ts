/** Reads the telephones of the operator's own file. */
import { existsSync } from 'node:fs';
import { type Config, readConfig, readSettingsFile } from '../../config/config.ts';
import { type Phone, parsePhones } from '../../telephony/phones/phones.ts';

/**
 * Reads the telephones of `SIP_PHONES`. Without the setting and without a file there are none.
 *
 * @throws {Error} naming the file and what is wrong in it.
 */
export function readPhonesFile({ SIP_PHONES }: Pick<Config, 'SIP_PHONES'>): readonly Phone[] {
  const isGiven = SIP_PHONES !== readConfig({}).SIP_PHONES;
  if (!isGiven && !existsSync(SIP_PHONES)) return [];
  return parsePhones(readSettingsFile(SIP_PHONES), SIP_PHONES);
}
