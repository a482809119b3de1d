import { signal, type ReadonlySignal } from "@preact/signals";

import { tryAgainDelay } from "./try-again.ts";
import { pause } from "./wait-for.ts";

/** Whether the gateway replies. */
export type ConnectionState =
  | { readonly kind: "there" }
  /** `since`: when it was first missed, milliseconds since 1970. */
  | { readonly kind: "away"; readonly since: number; readonly tries: number };

export interface ConnectionParts {
  /** Asks the gateway for a sign of life; resolves with whether there was one. */
  readonly probe: () => Promise<boolean>;
  readonly now?: () => number;
  readonly wait?: (delay: number) => Promise<void>;
}

/** Knows whether the gateway is there; while it is away it asks again and again. */
export class GatewayConnection {
  readonly #parts: Required<ConnectionParts>;
  readonly #state = signal<ConnectionState>({ kind: "there" });
  readonly #returns = signal(0);

  constructor(parts: ConnectionParts) {
    this.#parts = { now: Date.now, wait: pause, ...parts };
  }

  get state(): ReadonlySignal<ConnectionState> {
    return this.#state;
  }

  /** How often it came back: what was read before is read again when this changes. */
  get returns(): ReadonlySignal<number> {
    return this.#returns;
  }

  /** To be called when a request had no reply. */
  lost(): void {
    if (this.#state.value.kind === "away") return;
    this.#state.value = { kind: "away", since: this.#parts.now(), tries: 0 };
    void this.#tryAgain();
  }

  async #tryAgain(): Promise<void> {
    for (let tries = 1; this.#state.value.kind === "away"; tries++) {
      await this.#parts.wait(tryAgainDelay(tries));
      if (await this.#parts.probe().catch(() => false)) {
        this.#state.value = { kind: "there" };
        this.#returns.value++;
      } else {
        this.#state.value = { ...this.#state.value, tries };
      }
    }
  }
}
