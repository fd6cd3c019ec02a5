/** What callers that take turns with an agent count, as they begin. */

export function emptyTurnReport() {
  const none = { resumed: 0, wrong: 0, missed: 0, noises: 0, noiseStops: 0 };
  const nothing = { hums: 0, lostHums: 0, stale: 0, sent: 0, lateTurns: 0 };
  return {
    ...none,
    ...nothing,
    replies: [] as number[],
    stops: [] as number[],
    resumes: [] as number[],
  };
}
