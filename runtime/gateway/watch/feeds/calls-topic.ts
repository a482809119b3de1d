import type { Principal } from "../../../core/access/principal.ts";
import type { CallListParameters } from "../../../core/history/list-cursor.ts";
import { parseCallList } from "../../../core/history/parse-call-list.ts";
import { realNamespace } from "../../../core/namespaces/namespace-rules.ts";
import type { CallHistory, CallListQuery, CallPage } from "../../../core/ports/call-history.ts";
import { eventText } from "../../../core/watch/event-text.ts";
import { maxCalls, NewestCalls } from "../../../core/watch/newest-calls.ts";
import type { AppParts } from "../../rest/app-parts.ts";
import { permittedPage } from "../../rest/routes/history/call-list.ts";
import { requiredHistory } from "../../rest/routes/history/required-history.ts";
import type { PolledTopic } from "./polled-feed.ts";

/** How far those are counted that came too fast to be told. */
const maxCounted = 500;

export type CallsTopicParts = Pick<AppParts, "history" | "namespaces">;

/** Topic `calls[:<filter>]`. */
export class CallsTopic implements PolledTopic {
  readonly #on: string;
  readonly #parameters: CallListParameters;
  readonly #principal: () => Principal;
  readonly #parts: CallsTopicParts;
  readonly #newest = new NewestCalls();
  #told = 0;

  constructor(on: string, parameters: CallListParameters, principal: () => Principal, parts: CallsTopicParts) {
    this.#on = on;
    this.#parameters = parameters;
    this.#principal = principal;
    this.#parts = parts;
  }

  /** So that no more than 50 calls a second are told. */
  get pace(): number {
    return (this.#told / maxCalls) * 1_000;
  }

  async poll(): Promise<string | undefined> {
    this.#told = 0;
    const { reads } = requiredHistory(this.#parts.history, "list calls");
    const asked = parseCallsTopic(this.#parameters, this.#parts);
    const page = await permittedPage(this.#principal(), asked, reads);
    const skipped = await this.#countSkipped(page, asked, reads);
    const { calls, removed } = this.#newest.replace(page.rows, page.next);
    this.#told = calls.length;
    if (calls.length === 0 && removed.length === 0) return undefined;
    return eventText("calls", { on: this.#on, begin: false, calls: [...calls], removed: [...removed], skipped });
  }

  begin(): string {
    return eventText("calls", {
      on: this.#on,
      begin: true,
      calls: [...this.#newest.calls],
      removed: [],
      skipped: 0,
    });
  }

  /** How many new ones are beyond a page, as far as they are counted. */
  async #countSkipped({ rows, next }: CallPage, asked: CallListQuery, reads: CallHistory): Promise<number> {
    if (next === undefined || !this.#newest.mayHaveMissed(rows)) return 0;
    const more = await permittedPage(this.#principal(), { ...asked, limit: maxCounted, after: next }, reads);
    const known = more.rows.findIndex(({ id }) => this.#newest.has(id));
    return known === -1 ? more.rows.length : known;
  }
}

/**
 * What a topic lists, as of now: `since` may be a duration.
 * @throws PlatformError `validation_failed`
 */
export function parseCallsTopic(
  parameters: CallListParameters,
  { namespaces }: Pick<CallsTopicParts, "namespaces">,
): CallListQuery {
  return parseCallList({ ...parameters, limit: maxCalls }, Date.now(), (name) => realNamespace(name, namespaces));
}
