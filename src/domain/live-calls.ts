/** What the interface may ask of calls that are going on. */

export interface LiveCalls {
  /**
   * Begins to end a live call from our side, as if the agent had hung up.
   *
   * @returns false when this process holds no such call.
   */
  hangUp(callId: string): boolean;
}
