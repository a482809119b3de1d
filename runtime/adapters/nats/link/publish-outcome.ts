/** A publish the broker refused: its error code (NATS `err_code`) and text. */
export interface PublishRefusal {
  readonly code: number;
  readonly description: string;
}

/** How a publish into a stream went. */
export type PublishOutcome =
  | { readonly kind: "stored"; readonly sequence: number; readonly duplicate: boolean }
  /** `doubt` is set when an earlier try got no answer: that one may be stored. */
  | { readonly kind: "refused"; readonly refusal: PublishRefusal; readonly doubt: unknown }
  /** Surely not stored: nothing was sent, or nobody listens. */
  | { readonly kind: "not-sent"; readonly cause: unknown }
  /** No answer to at least one try. */
  | { readonly kind: "unknown"; readonly cause: unknown };
