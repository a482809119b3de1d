import { Agent, request } from "undici";

import { eventually } from "./eventually.ts";

export interface CallLoopsOptions {
  readonly url: string;
  /** Concurrent callers. Each sends its calls one after another, on its own connection. */
  readonly callers: number;
  /**
   * Callers keep their connection, and retry a call once if the connection was closed before any response, as clients
   * must (RFC 9112 §9.3.1). Otherwise each call has its own connection and is not retried.
   */
  readonly kept: boolean;
}

/** Callers that run until they are stopped. */
export interface CallLoops extends AsyncDisposable {
  /** Calls with status 200 so far. */
  readonly answered: number;
  /** Calls retried so far. */
  readonly repeated: number;
  /** Waits until `count` more calls have got status 200. */
  more(count: number): Promise<void>;
  /** Resolves after the last response, with the outcome of each call that did not get status 200. */
  stop(): Promise<readonly string[]>;
}

/** undici's errors for a closed connection: ended by the server, or reset because the request was being sent. */
const closedBefore = /^(?:SocketError: |Error: .*\b(?:ECONNRESET|EPIPE)\b)/;

/** Sends GET if connections are kept, else POST. */
export function openCallLoops({ url, callers, kept }: CallLoopsOptions): CallLoops {
  const failures: string[] = [];
  let answered = 0;
  let repeated = 0;
  let stopped = false;

  const describeError = (err: unknown): string => (err instanceof Error ? `${err.name}: ${err.message}` : String(err));
  const call = async (agent: Agent): Promise<string> => {
    const body = kept ? {} : { body: "hello" };
    const response = await request(url, { method: kept ? "GET" : "POST", dispatcher: agent, ...body });
    const bodyError = await response.body.text().then(() => undefined, describeError);
    return bodyError === undefined ? String(response.statusCode) : `cut in its body: ${bodyError}`;
  };
  const loop = async (): Promise<void> => {
    const agent = new Agent({ connections: 1, pipelining: kept ? 1 : 0 });
    while (!stopped) {
      let outcome = await call(agent).catch(describeError);
      if (kept && closedBefore.test(outcome)) {
        repeated += 1;
        outcome = await call(agent).catch(describeError);
      }
      if (outcome === "200") answered += 1;
      else failures.push(outcome);
    }
    await agent.close();
  };
  const loops = Array.from({ length: callers }, loop);
  const stop = async (): Promise<readonly string[]> => {
    stopped = true;
    await Promise.all(loops);
    return failures;
  };
  return {
    get answered() {
      return answered;
    },
    get repeated() {
      return repeated;
    },
    more: async (count) => {
      const target = answered + count;
      await eventually(() => answered >= target, { every: 5, what: `${count} more answers` });
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
