/** A publish the broker refused: its error code (NATS `err_code`) and text. */
export interface PublishRefusal {
  readonly code: number;
  readonly description: string;
}

/** How a publish into a stream went. */
export type PublishOutcome =
  | { readonly kind: "stored"; readonly sequence: number; readonly duplicate: boolean }
  /** `doubt` is set when an earlier attempt got no reply: that one may be stored. */
  | { readonly kind: "refused"; readonly refusal: PublishRefusal; readonly doubt: unknown }
  /** Certainly not stored: nothing was sent, or there was no responder. */
  | { readonly kind: "not-sent"; readonly cause: unknown }
  /** At least one attempt got no reply: it may be stored. */
  | { readonly kind: "unknown"; readonly cause: unknown };
