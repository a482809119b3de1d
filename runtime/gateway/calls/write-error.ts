/** What is used of a request that failed, and of the reply to it. */
export interface FailedExchange {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Flat. */
  readonly rawHeaders: readonly string[];
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
  destroy(): unknown;
}

/**
 * Answers a request with an error as the contract §1.7 says, and ends the exchange; cuts it if the head of a reply was
 * made. Returns how many bytes of body it sent.
 */
export type WriteError = (
  exchange: FailedExchange,
  err: unknown,
  options: {
    readonly callId?: string;
    readonly traceParent?: string;
    readonly invocation: boolean;
    readonly extra?: Readonly<Record<string, string>>;
  },
) => number;
