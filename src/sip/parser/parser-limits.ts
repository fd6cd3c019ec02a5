/** How much of a message is read before it is refused; pure */

/** As much as a UDP datagram can carry, so that no transport allows more than another. */
export const MESSAGE_BYTES_MAX = 65_536;

/** The start line and all headers together. */
export const HEAD_BYTES_MAX = 65_536;

export const HEADER_LINES_MAX = 256;

/** One header with its folded lines. Identity tokens, the longest in use, stay under 8 kB. */
export const HEADER_BYTES_MAX = 16_384;
