import type { CallRequest, CallResponse } from "./exchange.ts";

/**
 * Answers a request with an error as the contract §1.7 says, and ends the response; cuts it if its head was sent. Returns
 * how many bytes of body it sent.
 */
export type WriteError = (
  request: CallRequest,
  response: CallResponse,
  err: unknown,
  options: {
    readonly callId?: string;
    readonly traceParent?: string;
    readonly invocation: boolean;
    readonly extra?: Readonly<Record<string, string>>;
  },
) => number;
