import { expect } from "vitest";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { callEvidence } from "./call-evidence.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";

/** What `fetch` takes, as far as it is used. */
export interface ClusterRequest {
  readonly method?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a person does with a platform in a cluster: by requests to its gateway, and by kubectl. */
export interface ClusterClient {
  send(path: string, init?: ClusterRequest): Promise<Response>;
  sendJson(method: string, path: string, body: object): Promise<Response>;
  /** In the namespace of functions, as administrator. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** `name` or `name.namespace`. */
  show(name: string): Promise<FunctionStatus>;
  /** Waits, at most a minute, until the function is as it shall be. */
  shows(name: string, what: string, holds: (status: FunctionStatus) => boolean): Promise<FunctionStatus>;
  /** Deploys a function that answers with the request's body, and waits until it is ready. */
  deploy(name: string, more?: object): Promise<void>;
  /** Status and text of the answer: `200 hello`. */
  call(name: string, body?: string): Promise<string>;
  /** Waits, at most a minute, for the end of a queued call. */
  ended(id: string): Promise<CallRecord>;
}

const patience = 60_000;
/** A worker that was killed with a call in its hands keeps it from others for so long. */
const ackWait = 60_000;

/** Whether a function has the replicas it shall have, and nothing is under way. */
export function isReady({ replicas, availableReplicas, conditions }: FunctionStatus): boolean {
  return (
    availableReplicas === replicas &&
    conditions.some(({ type, status }) => type === "Reconciling" && status === "False")
  );
}

/** A client of the platform that is there once `platform` is called. */
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
      { within: patience, what, every: 100 },
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
      const answer = await sendJson("PUT", "/system/functions", deployment);
      expect([answer.status, await answer.text()]).toEqual([202, ""]);
      await shows(name, `${name} to be ready`, isReady);
    },
    call: async (name, body = "hello") => {
      const answer = await send(`/function/${name}`, { method: "POST", body });
      return `${answer.status} ${await answer.text()}`;
    },
    ended: async (id) => {
      const looks: string[] = [];
      const began = performance.now();
      const look = async (): Promise<CallRecord | undefined> => {
        const text = await (await send(`/async-function/${id}?wait=5s`)).text();
        looks.push(`after ${Math.round(performance.now() - began)} ms: ${text.trim()}`);
        const found: CallRecord = JSON.parse(text);
        const isOver = ["done", "failed", "cancelled"].includes(found.state);
        return isOver && found.callback?.state !== "pending" ? found : undefined;
      };
      try {
        return await eventually(look, { within: ackWait + patience, what: `call ${id} to be over` });
      } catch (cause) {
        throw new Error(`${String(cause)}\n${await callEvidence(platform(), looks)}`, { cause });
      }
    },
  };
}
