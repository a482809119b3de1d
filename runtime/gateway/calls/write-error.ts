/** The parts of a failed request and of its reply that are needed to write an error. */
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
 * Replies with an error (contract §1.7) and ends the exchange; cuts it if the head of a reply was made. Returns the
 * number of body bytes sent.
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
