/** STUN client: asks a server which public address a UDP packet of ours comes from. RFC 8489. */
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

/** Host and port of a STUN server. */
export interface StunServer {
  /** Host name or IPv4 address. */
  readonly host: string;
  readonly port: number;
}

/** Port of STUN over UDP. RFC 8489, 18.6. */
const STUN_PORT = 3478;

const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;
const MAGIC_COOKIE = 0x2112a442;
const HEADER_BYTES = 20;
const TRANSACTION_BYTES = 12;
const MAPPED_ADDRESS = 0x0001;
const XOR_MAPPED_ADDRESS = 0x0020;
const FAMILY_IPV4 = 0x01;

/** When the request goes out, from the first one on; RFC 8489, 6.2.1, cut off where a registration has to go on. */
const SENDS_AT_MS = [0, 500, 1_500, 3_500] as const;

/** Time limit for the answer. */
const ANSWER_MS_MAX = 4_500;

/** Reads `host` or `host:port`; undefined where it is neither. IPv4 and names only. */
export function parseStunServer(text: string): StunServer | undefined {
  const [, host, digits] =
    /^([A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? STUN_PORT : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/**
 * Asks the server. Over UDP and IPv4; answers of other hosts and of other requests do not count.
 *
 * @param options.from address of ours that the request is sent from; a wildcard leaves it to the routing table.
 * @returns the IPv4 address that the server sees.
 * @throws {Error} without an answer in 4.5 s, when the name has no address, or when no network leads to the server. The
 * look-up of the name has the resolver's own limit.
 */
export async function askStun(
  server: StunServer,
  options: { readonly from: string; readonly randomBytes: (count: number) => Uint8Array },
): Promise<string> {
  const { address } = await lookup(server.host, { family: 4 });
  const socket = createSocket('udp4');
  try {
    await connected(socket, { ...options, address, port: server.port });
    return await exchange(socket, options.randomBytes(TRANSACTION_BYTES));
  } finally {
    socket.close();
  }
}

/** Connects the socket, which then receives nothing from other hosts. */
async function connected(
  socket: Socket,
  {
    from,
    address,
    port,
  }: { readonly from: string; readonly address: string; readonly port: number },
): Promise<void> {
  // `connect` without a callback: it would get the error, such as that of a network out of reach, in place of 'error'.
  socket.bind(0, isIPv4(from) ? from : '0.0.0.0', () => socket.connect(port, address));
  await once(socket, 'connect');
}

function exchange(socket: Socket, transaction: Uint8Array): Promise<string> {
  const timers: NodeJS.Timeout[] = [];
  const answer = new Promise<string>((resolve, reject) => {
    socket.on('message', (bytes) => {
      const address = readBindingResponse(bytes, transaction);
      if (address !== undefined) resolve(address);
    });
    // ICMP may report one of several requests.
    const send = () => socket.send(bindingRequest(transaction), () => undefined);
    socket.on('error', () => undefined);
    for (const atMs of SENDS_AT_MS) timers.push(setTimeout(send, atMs));
    const fail = () => reject(new Error('Cannot ask the STUN server: no answer'));
    timers.push(setTimeout(fail, ANSWER_MS_MAX));
  });
  return answer.finally(() => timers.forEach(clearTimeout));
}

/**
 * A Binding request without attributes.
 *
 * ```
 *  0                   1                   2                   3
 *  0 0|    message type = 0x0001   |     length of attributes    |
 *  |                  magic cookie = 0x2112A442                  |
 *  |                  transaction id, 12 octets                  |
 * ```
 */
export function bindingRequest(transaction: Uint8Array): Buffer {
  const head = Buffer.alloc(HEADER_BYTES - TRANSACTION_BYTES);
  head.writeUInt16BE(BINDING_REQUEST, 0);
  head.writeUInt32BE(MAGIC_COOKIE, 4);
  return Buffer.concat([head, transaction]);
}

/**
 * Reads a success response to the transaction.
 *
 * @returns the mapped IPv4 address; undefined for every other packet.
 * @see RFC 8489, sections 14.1 and 14.2
 */
export function readBindingResponse(bytes: Buffer, transaction: Uint8Array): string | undefined {
  const isOurs =
    bytes.length >= HEADER_BYTES &&
    bytes.readUInt16BE(0) === BINDING_SUCCESS &&
    bytes.readUInt16BE(2) === bytes.length - HEADER_BYTES &&
    bytes.readUInt32BE(4) === MAGIC_COOKIE &&
    bytes.subarray(8, HEADER_BYTES).equals(transaction);
  if (!isOurs) return undefined;
  const attributes = attributesOf(bytes.subarray(HEADER_BYTES));
  const xored = ipv4In(attributes.get(XOR_MAPPED_ADDRESS), MAGIC_COOKIE);
  return xored ?? ipv4In(attributes.get(MAPPED_ADDRESS), 0);
}

/** Attributes by type; of several the first counts. Each begins at a multiple of four octets. */
function attributesOf(bytes: Buffer): ReadonlyMap<number, Buffer> {
  const attributes = new Map<number, Buffer>();
  let at = 0;
  while (at + 4 <= bytes.length) {
    const type = bytes.readUInt16BE(at);
    const lengthBytes = bytes.readUInt16BE(at + 2);
    const value = bytes.subarray(at + 4, at + 4 + lengthBytes);
    if (value.length === lengthBytes && !attributes.has(type)) attributes.set(type, value);
    at += 4 + Math.ceil(lengthBytes / 4) * 4;
  }
  return attributes;
}

/** A reserved octet, the family, the port, and four octets of the address, which is XORed with the key. */
function ipv4In(value: Buffer | undefined, key: number): string | undefined {
  if (value?.length !== 8 || value[1] !== FAMILY_IPV4) return undefined;
  const address = (value.readUInt32BE(4) ^ key) >>> 0;
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}
