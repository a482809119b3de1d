import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";

import type { WatchEventName, WatchEvents } from "../../../runtime/api/schemas/watch-events.ts";
import { eventually } from "../eventually.ts";
import { parseBlock, type SentEvent } from "./memory-sink.ts";

/** A client of a stream of events. */
export class EventClient implements Disposable {
  readonly response: IncomingMessage;
  readonly events: SentEvent[] = [];
  readonly #sending: ClientRequest;
  #text = "";
  #isOver = false;

  private constructor(sending: ClientRequest, response: IncomingMessage) {
    this.#sending = sending;
    this.response = response;
    response.on("close", () => {
      this.#isOver = true;
    });
    // Cut by the server or by the test itself.
    response.on("error", () => {});
  }

  /** Opens one, with headers by name; its response may be an error. Nothing is read before `read`. */
  static async open(port: number, on: string, headers: Readonly<Record<string, string>>): Promise<EventClient> {
    const path = `/system/watch?${new URLSearchParams({ on }).toString()}`;
    const sending = request({ port, host: "127.0.0.1", path, headers, agent: false });
    sending.on("error", () => {});
    sending.end();
    const [response]: IncomingMessage[] = await once(sending, "response", { signal: AbortSignal.timeout(15_000) });
    if (response === undefined) throw new Error("no response came");
    return new EventClient(sending, response);
  }

  /** Reads on. */
  read(): this {
    this.response.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
      const blocks = this.#text.split("\n\n");
      this.#text = blocks.pop() ?? "";
      for (const block of blocks) this.events.push(parseBlock(block));
    });
    return this;
  }

  /** Whether the response has ended, or broke. */
  get isOver(): boolean {
    return this.#isOver;
  }

  of<Name extends WatchEventName>(name: Name): WatchEvents[Name][] {
    return this.events.flatMap((event) => (event.name === name ? [event.data as WatchEvents[Name]] : []));
  }

  /** The first event of a name that fits; waits for it. */
  async until<Name extends WatchEventName>(
    name: Name,
    fits: (data: WatchEvents[Name]) => boolean = () => true,
  ): Promise<WatchEvents[Name]> {
    return eventually(() => this.of(name).find(fits), { what: `event ${name}` });
  }

  [Symbol.dispose](): void {
    this.#sending.destroy();
  }
}
