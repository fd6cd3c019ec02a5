/** No-op, the initial value of cancel functions; pure */

/** One for all, since thousands of transactions hold some each. */
export const doNothing = (): void => undefined;
