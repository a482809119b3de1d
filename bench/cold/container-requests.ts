import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** When a request to the engine was made and when its answer was there. */
export interface TimedRequest {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** What undici tells of a request; the same object each time. */
interface Told {
  readonly request: { readonly path: string };
}

/** Notes all requests that this process makes through undici from now on; `end` ends that and gives them. */
export function timeRequests(): { end(): readonly TimedRequest[] } {
  const began = new Map<object, number>();
  const done: TimedRequest[] = [];
  const create = (message: unknown): void => void began.set((message as Told).request, performance.now());
  const trailers = (message: unknown): void => {
    const { request } = message as Told;
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
