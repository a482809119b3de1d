import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { followLog } from "../logs/follow-log.ts";
import type { DevStream } from "./dev-stream.ts";

/** Milliseconds for which a gateway may be away. */
const longestAway = 300_000;

/** The logs of functions, each followed once until the function is gone. */
export class FollowedLogs {
  readonly #gateway: GatewayClient;
  readonly #stream: DevStream;
  readonly #signal: AbortSignal;
  readonly #followed = new Set<string>();

  constructor(gateway: GatewayClient, stream: DevStream, signal: AbortSignal) {
    this.#gateway = gateway;
    this.#stream = stream;
    this.#signal = signal;
  }

  /** Shows what a function logs from `since` on, Unix milliseconds; nothing new if it is followed already. */
  follow(name: string, namespace: string | undefined, since: number): void {
    if (this.#followed.has(name)) return;
    this.#followed.add(name);
    void this.#show(name, namespace, since).finally(() => this.#followed.delete(name));
  }

  async #show(name: string, namespace: string | undefined, since: number): Promise<void> {
    const selection = { name, namespace, since, follow: true, instance: undefined, tail: undefined };
    const retry = { timeout: longestAway, signal: this.#signal, onBreak: () => {} };
    try {
      for await (const { text } of followLog(this.#gateway, selection, retry)) await this.#stream.log(name, text);
    } catch (err) {
      if (!this.#signal.aborted) this.#stream.say(err instanceof CliError ? err.message : String(err), name);
    }
  }
}
