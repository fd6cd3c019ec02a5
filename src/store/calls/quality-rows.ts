/** Rows of the table of call quality. */

export interface CallQualityRow {
  readonly call_id: string;
  readonly codec: string;
  /** JSON. */
  readonly local: string;
  /** JSON. */
  readonly remote: string | null;
  readonly mos: number | null;
}
