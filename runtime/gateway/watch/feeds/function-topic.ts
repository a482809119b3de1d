import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { eventText } from "../../../core/watch/event-text.ts";
import { statusNow, type AppParts } from "../../rest/app-parts.ts";
import type { PolledTopic } from "./polled-feed.ts";

export type FunctionTopicParts = Pick<AppParts, "view" | "endpoints" | "invocations">;

/** Topic `function:<namespace>:<name>`. */
export class FunctionTopic implements PolledTopic {
  readonly #on: string;
  readonly #ref: FunctionRef;
  readonly #parts: FunctionTopicParts;
  #last = "";

  constructor(on: string, ref: FunctionRef, parts: FunctionTopicParts) {
    this.#on = on;
    this.#ref = ref;
    this.#parts = parts;
  }

  async poll(): Promise<string | undefined> {
    const wanted = this.#parts.view.wanted(this.#ref);
    const status = wanted === undefined ? null : statusNow(wanted, this.#parts);
    const text = eventText("function", { on: this.#on, status });
    if (text === this.#last) return undefined;
    this.#last = text;
    return text;
  }

  begin(): string {
    return this.#last;
  }
}
