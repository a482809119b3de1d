export interface CallbackRequest {
  readonly url: string;
  /** Flat. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

export type CallbackOutcome =
  | { readonly kind: "responded"; readonly status: number; readonly retryAfter: string | undefined }
  /** Callbacks may not go to the address. */
  | { readonly kind: "forbidden"; readonly error: string }
  | { readonly kind: "unreachable"; readonly error: string };

/** POSTs one callback within its time limits, without following redirects; never rejects. */
export interface CallbackSender {
  send(request: CallbackRequest, signal: AbortSignal): Promise<CallbackOutcome>;
}
