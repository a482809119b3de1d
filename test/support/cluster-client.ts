import { expect } from "vitest";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { callEvidence } from "./call-evidence.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";

/** The options of `fetch` that are used. */
export interface ClusterRequest {
  readonly method?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Uses a platform in a cluster as people do: by requests to its gateway and by kubectl. */
export interface ClusterClient {
  send(path: string, init?: ClusterRequest): Promise<Response>;
  sendJson(method: string, path: string, body: object): Promise<Response>;
  /** In the namespace of functions, as administrator. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** `name` or `name.namespace`. */
  show(name: string): Promise<FunctionStatus>;
  /** Waits, at most a minute, until `holds` is true of the function's status. */
  shows(name: string, what: string, holds: (status: FunctionStatus) => boolean): Promise<FunctionStatus>;
  /** Deploys a function that echoes the request's body, and waits until it is ready. */
  deploy(name: string, more?: object): Promise<void>;
  /** Status and body of the response: `200 hello`. */
  call(name: string, body?: string): Promise<string>;
  /** Waits, at most two minutes, for the end of a queued call. */
  ended(id: string): Promise<CallRecord>;
}

const timeout = 60_000;
/** How long the call of a killed worker is kept from other workers. */
const ackWait = 60_000;

/** Whether a function has its desired replicas and is not being reconciled. */
export function isReady({ replicas, availableReplicas, conditions }: FunctionStatus): boolean {
  return (
    availableReplicas === replicas &&
    conditions.some(({ type, status }) => type === "Reconciling" && status === "False")
  );
}

/** A client of the platform that `platform` returns; it is called at each use. */
export function clusterClient(platform: () => ClusterPlatform): ClusterClient {
  const send = (path: string, init: ClusterRequest = {}): Promise<Response> =>
    fetch(`${platform().url}${path}`, {
      ...init,
      headers: { authorization: platform().authorization, ...init.headers },
    });
  const sendJson = (method: string, path: string, body: object): Promise<Response> =>
    send(path, { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  const show = async (name: string): Promise<FunctionStatus> => {
    const [service = "", namespace] = name.split(".");
    const query = namespace === undefined ? "" : `?namespace=${namespace}`;
    return (await send(`/system/function/${service}${query}`)).json() as Promise<FunctionStatus>;
  };
  const shows = (name: string, what: string, holds: (status: FunctionStatus) => boolean): Promise<FunctionStatus> =>
    eventually(
      async () => {
        const status = await show(name);
        return holds(status) ? status : undefined;
      },
      { within: timeout, what, every: 100 },
    );
  return {
    send,
    sendJson,
    kubectl: (...args) => platform().cluster.kubectl(args, { namespace: platform().functionNamespace }),
    show,
    shows,
    deploy: async (name, more = {}) => {
      const [service = "", namespace] = name.split(".");
      const place = namespace === undefined ? {} : { namespace };
      const deployment = { service, ...place, image: platform().image, envProcess: "cat", ...more };
      const response = await sendJson("PUT", "/system/functions", deployment);
      expect([response.status, await response.text()]).toEqual([202, ""]);
      await shows(name, `${name} to be ready`, isReady);
    },
    call: async (name, body = "hello") => {
      const response = await send(`/function/${name}`, { method: "POST", body });
      return `${response.status} ${await response.text()}`;
    },
    ended: async (id) => {
      const observed: string[] = [];
      const began = performance.now();
      const check = async (): Promise<CallRecord | undefined> => {
        const text = await (await send(`/async-function/${id}?wait=5s`)).text();
        observed.push(`after ${Math.round(performance.now() - began)} ms: ${text.trim()}`);
        const found: CallRecord = JSON.parse(text);
        const isOver = ["done", "failed", "cancelled"].includes(found.state);
        return isOver && found.callback?.state !== "pending" ? found : undefined;
      };
      try {
        return await eventually(check, { within: ackWait + timeout, what: `call ${id} to be over` });
      } catch (cause) {
        throw new Error(`${String(cause)}\n${await callEvidence(platform(), observed)}`, { cause });
      }
    },
  };
}
