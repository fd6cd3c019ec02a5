/** Does nothing: what a cancel function is before there is anything to cancel; pure */

/** One for all, since thousands of transactions hold some each. */
export const doNothing = (): void => undefined;
