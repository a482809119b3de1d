/** What is used of a request that failed. */
export interface FailedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly accept?: string | undefined };
}

/** What is used of the response to it. */
export interface ErrorResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
  destroy(): unknown;
}

/**
 * Answers a request with an error as the contract §1.7 says, and ends the response; cuts it if its head was sent. Returns
 * how many bytes of body it sent.
 */
export type WriteError = (
  request: FailedRequest,
  response: ErrorResponse,
  err: unknown,
  options: {
    readonly callId?: string;
    readonly traceParent?: string;
    readonly invocation: boolean;
    readonly extra?: Readonly<Record<string, string>>;
  },
) => number;
