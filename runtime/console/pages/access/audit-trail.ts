import { signal, type ReadonlySignal } from "@preact/signals";

import type { AuditRecord } from "../../../api/schemas/iam/audit.ts";
import { readJsonLines } from "../../data/requests/read-lines.ts";
import { failureFrom, type RequestFailure } from "../../data/requests/request-failure.ts";
import type { Requests } from "../../data/requests/requests.ts";

export interface ShownAuditQuery {
  readonly since: Date;
  /** Empty ones narrow nothing. */
  readonly subject: string;
  readonly action: string;
  readonly allowed: string;
  readonly follow: boolean;
}

export interface AuditState {
  /** Newest first. */
  readonly records: readonly AuditRecord[];
  readonly failure: RequestFailure | undefined;
  /** When the read began that goes on, milliseconds since 1970. */
  readonly since: number | undefined;
}

/** Most records that are kept; the oldest go. */
const most = 20_000;
/** Milliseconds for which records are gathered before they are shown. */
const gatherFor = 200;

/** Records of the audit, as they are read. */
export class AuditPanel {
  readonly #requests: Requests;
  readonly #state = signal<AuditState>({ records: [], failure: undefined, since: undefined });

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  get state(): ReadonlySignal<AuditState> {
    return this.#state;
  }

  /** Reads them anew until they end; or until `stop`, when they are followed. */
  async read({ since, follow, ...filter }: ShownAuditQuery, stop: AbortSignal): Promise<void> {
    this.#state.value = { records: [], failure: undefined, since: Date.now() };
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
    let gathered: AuditRecord[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      clearTimeout(timer);
      timer = undefined;
      if (stop.aborted) return;
      const before = this.#state.peek();
      this.#state.value = { ...before, records: [...gathered.toReversed(), ...before.records].slice(0, most) };
      gathered = [];
    };
    try {
      const response = await this.#requests.open("GET", "/system/audit", {
        query: { since: since.toISOString(), ...given, ...(follow ? { follow: true } : {}) },
        signal: stop,
        act: "read the audit",
      });
      for await (const record of readJsonLines<AuditRecord>(response)) {
        gathered.push(record);
        timer ??= setTimeout(show, gatherFor);
      }
      show();
      if (!stop.aborted) this.#state.value = { ...this.#state.peek(), since: undefined };
    } catch (err) {
      show();
      if (!stop.aborted) this.#state.value = { ...this.#state.peek(), failure: failureFrom(err), since: undefined };
    }
  }
}
