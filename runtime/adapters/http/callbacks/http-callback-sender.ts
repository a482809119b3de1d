import { Agent } from "undici";

import {
  isGateway,
  judgeUrl,
  parseCallbackUrl,
  rulesAtConnect,
  type CallbackRules,
} from "../../../core/callbacks/callback-policy.ts";
import { headerValue } from "../../../core/headers/header-list.ts";
import type { CallbackOutcome, CallbackRequest, CallbackSender } from "../../../core/ports/callback-sender.ts";
import type { OutsideNetwork } from "../outside/outside-network.ts";
import { outsideNetwork, type EgressProxy } from "../outside/proxied-network.ts";
import { pinnedConnector } from "../upstream/pinned-certificate.ts";
import { checkedConnector, ForbiddenAddressError } from "../outside/checked-connector.ts";

/** Most bytes of a response that are read, head and body each. */
const responseLimit = 65_536;

export interface CallbackSenderOptions {
  readonly rules: CallbackRules;
  /** Origin at which the gateway listens; callbacks to any of its own origins go there. */
  readonly gatewayOrigin: string | undefined;
  /** The gateway's own certificate (PEM), if it uses TLS there. */
  readonly gatewayCertificate?: string | Buffer | undefined;
  /** Milliseconds to the response's head. */
  readonly headTimeout: number;
  /** Milliseconds in total. */
  readonly timeout: number;
  /** The proxy that leads outside, if there is one. */
  readonly egress?: EgressProxy;
  /** Absent: this machine's. */
  readonly network?: OutsideNetwork;
}

/** Sends callbacks with undici, without redirects and cookies; by a proxy where there is one. */
export class HttpCallbackSender implements CallbackSender {
  readonly #options: CallbackSenderOptions;
  readonly #limits: Agent.Options;
  /** By what the rules say of a URL beyond its origin: a kept connection is only for those that are judged as it was. */
  readonly #checked = new Map<string, Agent>();
  readonly #gateway: Agent;
  readonly #outside: OutsideNetwork;

  constructor(options: CallbackSenderOptions) {
    this.#options = options;
    // undici accepts whole milliseconds only.
    const headTimeout = Math.ceil(options.headTimeout);
    this.#limits = {
      headersTimeout: headTimeout,
      bodyTimeout: Math.ceil(options.timeout),
      maxHeaderSize: responseLimit,
      allowH2: false,
    };
    const { gatewayCertificate: certificate } = options;
    this.#outside = outsideNetwork(options.egress, options.network);
    const { inside = this.#outside } = this.#outside;
    const connect =
      certificate === undefined
        ? inside.connector({ timeout: headTimeout, allowH2: false })
        : pinnedConnector(certificate, options.headTimeout);
    this.#gateway = new Agent({ ...this.#limits, connect });
  }

  async send(callback: CallbackRequest, signal: AbortSignal): Promise<CallbackOutcome> {
    const { rules, gatewayOrigin } = this.#options;
    let url: URL;
    try {
      url = parseCallbackUrl(callback.url);
    } catch (err) {
      return { kind: "forbidden", error: messageOf(err) };
    }
    const forbidden = judgeUrl(url, rules);
    if (forbidden !== undefined) return { kind: "forbidden", error: forbidden };
    const toGateway = isGateway(url, rules) && gatewayOrigin !== undefined;
    const agent = toGateway ? this.#gateway : this.#agentFor(rulesAtConnect(url, rules));
    const origin = toGateway ? gatewayOrigin : url.origin;
    return this.#post(agent, origin, url.pathname + url.search, callback, signal);
  }

  /** Closes all connections, those in use, too. */
  async close(): Promise<void> {
    await Promise.all([this.#gateway, ...this.#checked.values()].map((agent) => agent.destroy()));
  }

  #agentFor(rules: CallbackRules): Agent {
    const key = `${rules.policy} ${rules.gatewayPorts?.join() ?? ""}`;
    let agent = this.#checked.get(key);
    if (agent === undefined) {
      const { headTimeout } = this.#options;
      agent = new Agent({ ...this.#limits, connect: checkedConnector(rules, Math.ceil(headTimeout), this.#outside) });
      this.#checked.set(key, agent);
    }
    return agent;
  }

  #post(
    agent: Agent,
    origin: string,
    path: string,
    callback: CallbackRequest,
    signal: AbortSignal,
  ): Promise<CallbackOutcome> {
    return new Promise((resolve) => {
      let abort: (reason: Error) => void = () => {};
      let settled = false;
      const settle = (outcome: CallbackOutcome): void => {
        settled = true;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        resolve(outcome);
      };
      const onAbort = (): void => {
        settle({ kind: "unreachable", error: "the queue-worker stopped" });
        abort(new Error("aborted"));
      };
      const timer = setTimeout(() => {
        settle({ kind: "unreachable", error: `no complete response in ${this.#options.timeout} ms` });
        abort(new Error("timed out"));
      }, this.#options.timeout);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) return onAbort();

      let result: CallbackOutcome = { kind: "unreachable", error: "no response" };
      let read = 0;
      const headers = [...callback.headers, "Content-Length", String(callback.body.byteLength)];
      agent.dispatch(
        { origin, path, method: "POST", headers, body: callback.body },
        {
          onRequestStart: (controller) => {
            abort = (reason) => controller.abort(reason);
            // Resolving the name or connecting took too long: the callback must not be sent any more.
            if (settled) controller.abort(new Error("too late"));
          },
          onResponseStart: (_controller, status, head) => {
            const list = Object.entries(head).flatMap(([name, value]) => [
              name,
              Array.isArray(value) ? (value[0] ?? "") : (value ?? ""),
            ]);
            result = { kind: "responded", status, retryAfter: headerValue(list, "retry-after") };
          },
          onResponseData: (controller, chunk) => {
            read += chunk.byteLength;
            if (read <= responseLimit) return;
            // Settle first: the abort reports an error synchronously.
            settle(result);
            controller.abort(new Error("enough of the response was read"));
          },
          onResponseEnd: () => settle(result),
          onResponseError: (_controller, err) =>
            settle(
              err instanceof ForbiddenAddressError
                ? { kind: "forbidden", error: err.message }
                : { kind: "unreachable", error: messageOf(err) },
            ),
        },
      );
    });
  }
}

function messageOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
