import type { Readable, Writable } from "node:stream";

/** Parameters and results of the Chrome DevTools Protocol, by name. */
export type DevToolsFields = Readonly<Record<string, unknown>>;

interface Sent {
  readonly method: string;
  resolve(result: DevToolsFields): void;
  reject(err: Error): void;
}

interface Received {
  readonly id?: number;
  readonly result?: DevToolsFields;
  readonly error?: { readonly message: string };
}

/** The Chrome DevTools Protocol on two pipes: messages are JSON, each followed by a NUL. */
export class DevTools {
  readonly #requests: Writable;
  readonly #sent = new Map<number, Sent>();
  #last = 0;
  #ended: string | undefined;
  #received = "";

  constructor(requests: Writable, replies: Readable) {
    this.#requests = requests;
    // The browser may end before it has read everything.
    requests.on("error", (err) => this.end(err.message));
    replies.setEncoding("utf8").on("data", (text: string) => this.#take(text));
  }

  /**
   * Sends a command, to the page of the session if one is given.
   * @throws Error when the browser refuses it, or ends
   */
  send(method: string, params: DevToolsFields = {}, sessionId?: string): Promise<DevToolsFields> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(failure(method, this.#ended));
      this.#last += 1;
      this.#sent.set(this.#last, { method, resolve, reject });
      this.#requests.write(`${JSON.stringify({ id: this.#last, method, params, sessionId })}\0`);
    });
  }

  /** All that waits, and all that is sent from now on, fails. */
  end(why: string): void {
    this.#ended ??= why;
    for (const { method, reject } of this.#sent.values()) reject(failure(method, this.#ended));
    this.#sent.clear();
  }

  #take(text: string): void {
    const messages = (this.#received + text).split("\0");
    this.#received = messages.pop() ?? "";
    for (const message of messages) {
      const { id, result = {}, error } = JSON.parse(message) as Received;
      const sent = id === undefined ? undefined : this.#sent.get(id);
      if (id === undefined || sent === undefined) continue;
      this.#sent.delete(id);
      if (error === undefined) sent.resolve(result);
      else sent.reject(failure(sent.method, error.message));
    }
  }
}

function failure(method: string, why: string): Error {
  return new Error(`Cannot do ${method} in the browser: ${why}`);
}
