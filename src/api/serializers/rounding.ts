/** Figures as customers see them: with few decimals; pure */

export function rounded(value: number, decimals: number): number {
  const factor = 10 ** decimals;
  return Math.round(value * factor) / factor;
}

/** Minutes with one decimal. */
export function minutesOf(seconds: number): number {
  return rounded(seconds / 60, 1);
}
