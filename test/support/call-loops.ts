import { Agent, request } from "undici";

import { eventually } from "./eventually.ts";

export interface CallLoopsOptions {
  readonly url: string;
  /** How many callers call one after another, each on a connection of its own. */
  readonly callers: number;
  /**
   * Callers keep their connection, and repeat a call, once, whose connection was closed before any answer: what clients
   * must do (RFC 9112 §9.3.1). Otherwise each call has a connection of its own and one chance.
   */
  readonly kept: boolean;
}

/** Callers that go on until they are stopped. */
export interface CallLoops extends AsyncDisposable {
  /** Calls answered 200 so far. */
  readonly answered: number;
  /** Calls that were repeated so far. */
  readonly repeated: number;
  /** Waits until `count` more calls were answered, at most 10 s. */
  more(count: number): Promise<void>;
  /** Resolves after the last answer with one word for each call that was not answered 200. */
  stop(): Promise<readonly string[]>;
}

/** The end of a connection as undici says it: an end of the other side, or a reset because the request was on its way then. */
const closedBefore = /^(?:SocketError: |Error: .*\b(?:ECONNRESET|EPIPE)\b)/;

/** Calls with GET when connections are kept, else with POST. */
export function openCallLoops({ url, callers, kept }: CallLoopsOptions): CallLoops {
  const failures: string[] = [];
  let answered = 0;
  let repeated = 0;
  let stopped = false;

  const word = (err: unknown): string => (err instanceof Error ? `${err.name}: ${err.message}` : String(err));
  const call = async (agent: Agent): Promise<string> => {
    const body = kept ? {} : { body: "hello" };
    const answer = await request(url, { method: kept ? "GET" : "POST", dispatcher: agent, ...body });
    const cut = await answer.body.text().then(() => undefined, word);
    return cut === undefined ? String(answer.statusCode) : `cut in its body: ${cut}`;
  };
  const loop = async (): Promise<void> => {
    const agent = new Agent({ connections: 1, pipelining: kept ? 1 : 0 });
    while (!stopped) {
      let outcome = await call(agent).catch(word);
      if (kept && closedBefore.test(outcome)) {
        repeated += 1;
        outcome = await call(agent).catch(word);
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
      const wanted = answered + count;
      await eventually(() => answered >= wanted, { every: 5, what: `${count} more answers` });
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
