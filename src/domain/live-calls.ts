/** What the interface may ask of calls that are going on. */

export interface LiveCalls {
  /**
   * Begins to end a live call from our side, as if the agent had hung up: when the code that runs now is done, so that
   * whoever asks inside a transaction has left it.
   *
   * @returns false when this process holds no such call.
   */
  hangUp(callId: string): boolean;
}
