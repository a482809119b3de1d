import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** When a request to the engine began, and when its response was complete. */
export interface TimedRequest {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** A message of undici's diagnostics channels; all messages of a request hold the same object. */
interface RequestMessage {
  readonly request: { readonly path: string };
}

/** Records all requests that this process makes through undici until `end`, which returns them. */
export function timeRequests(): { end(): readonly TimedRequest[] } {
  const began = new Map<object, number>();
  const done: TimedRequest[] = [];
  const create = (message: unknown): void => void began.set((message as RequestMessage).request, performance.now());
  const trailers = (message: unknown): void => {
    const { request } = message as RequestMessage;
    const from = began.get(request);
    if (from !== undefined) done.push({ path: request.path, from, to: performance.now() });
  };
  subscribe("undici:request:create", create);
  subscribe("undici:request:trailers", trailers);
  return {
    end: () => {
      unsubscribe("undici:request:create", create);
      unsubscribe("undici:request:trailers", trailers);
      return done;
    },
  };
}
