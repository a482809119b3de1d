import { eventText } from "../../../core/watch/event-text.ts";
import type { Principal } from "../../../core/access/principal.ts";
import { RequestAccess } from "../../rest/request-access.ts";
import type { ReadCallDetail } from "../../rest/routes/history/read-call-detail.ts";
import type { PolledTopic } from "./polled-feed.ts";

/** Of the looks at a call that has ended, one of so many is taken: only a redrive or a replay changes it. */
const endedPace = 5;

/** Topic `call:<id>`. */
export class CallTopic implements PolledTopic {
  readonly #on: string;
  readonly #id: string;
  readonly #principal: () => Principal;
  readonly #read: ReadCallDetail;
  #seen = "";
  #text = "";
  #hasEnded = false;
  #looks = 0;

  constructor(on: string, id: string, principal: () => Principal, read: ReadCallDetail) {
    this.#on = on;
    this.#id = id;
    this.#principal = principal;
    this.#read = read;
  }

  async poll(): Promise<string | undefined> {
    this.#looks += 1;
    if (this.#hasEnded && this.#looks % endedPace !== 0) return undefined;
    const call = await this.#read({ id: this.#id, principal: this.#principal(), access: new RequestAccess("") });
    const { history, ...shown } = call;
    // How far the history is behind changes all the time.
    const seen = JSON.stringify([shown, history.complete, history.gaps]);
    if (seen === this.#seen) return undefined;
    this.#seen = seen;
    this.#hasEnded = call.endedAt !== undefined;
    this.#text = eventText("call", { on: this.#on, call });
    return this.#text;
  }

  begin(): string {
    return this.#text;
  }
}
