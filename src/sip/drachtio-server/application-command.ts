/** What a drachtio client asks for, one command a frame; pure */

/**
 * One command.
 *
 * ```
 * <id>|authenticate|<secret>|<tags>
 * <id>|ping
 * <id>|route|<method>
 * <id>|remove_route|<method>
 * <id>|sip|<transaction>|<dialog>|<proxy> CR LF <message>
 * ```
 */
export interface ApplicationCommand {
  readonly id: string;
  readonly verb: string;

  /** What follows the verb, up to the line's end. */
  readonly fields: readonly string[];

  /** What follows the line; empty where nothing does. */
  readonly octets: Buffer;
}

/** Splits a frame's payload. */
export function parseCommand(payload: Buffer): ApplicationCommand {
  const lineEnd = payload.indexOf('\r\n');
  const line = payload.toString('utf8', 0, lineEnd === -1 ? payload.length : lineEnd);
  const [id = '', verb = '', ...fields] = line.split('|');
  const octets = lineEnd === -1 ? Buffer.alloc(0) : payload.subarray(lineEnd + 2);
  return { id, verb, fields, octets };
}
