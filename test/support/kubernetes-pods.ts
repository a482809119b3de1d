import type { ServerResponse } from "node:http";

import { kinds } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import { LogClock } from "../../runtime/adapters/machine/local/logs/log-time.ts";
import { functionLabel } from "../../runtime/api/names.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { KubernetesApi, SeenRequest } from "./kubernetes-api.ts";

interface Container {
  readonly startedAt: string;
  readonly lines: { readonly time: string; readonly text: string }[];
  readonly followers: Set<ServerResponse>;
}

interface Pod {
  readonly ref: FunctionRef;
  current: Container;
  previous: Container | undefined;
}

/** Pods of functions on an API server, whose containers write what they are told. */
export class KubernetesPods {
  readonly #api: KubernetesApi;
  readonly #clock = new LogClock();
  readonly #pods = new Map<string, Pod>();

  constructor(api: KubernetesApi) {
    this.#api = api;
    api.podLog = (request, response) => this.#sendLog(request, response);
  }

  /** Names of the pods whose logs are being followed, sorted. */
  get followed(): readonly string[] {
    const keys = [...this.#pods].filter(([, { current }]) => current.followers.size > 0).map(([key]) => key);
    return keys.map((key) => key.slice(key.indexOf("/") + 1)).sort();
  }

  has(ref: FunctionRef, name: string): boolean {
    return this.#pods.has(keyOf(ref, name));
  }

  /** `startedAt` is RFC 3339. */
  start(ref: FunctionRef, name: string, startedAt: string = new Date().toISOString()): void {
    const pod: Pod = { ref, current: containerOf(startedAt), previous: undefined };
    this.#pods.set(keyOf(ref, name), pod);
    this.#put(name, pod);
  }

  /** One that is seen only after its container ended, having written `words`, and another one began. */
  startAgain(ref: FunctionRef, name: string, words: string): void {
    const previous = containerOf(new Date().toISOString());
    previous.lines.push({ time: this.#clock.next(), text: words });
    const pod = { ref, current: containerOf(new Date().toISOString()), previous };
    this.#pods.set(keyOf(ref, name), pod);
    this.#put(name, pod);
  }

  write(ref: FunctionRef, name: string, text: string): void {
    const { current } = this.#podOf(ref, name);
    const line = { time: this.#clock.next(), text };
    current.lines.push(line);
    for (const follower of current.followers) follower.write(textOf(line));
  }

  /** The container ends, and another one begins. */
  restart(ref: FunctionRef, name: string, startedAt: string = new Date().toISOString()): void {
    const pod = this.#podOf(ref, name);
    endFollowers(pod.current);
    pod.previous = pod.current;
    pod.current = containerOf(startedAt);
    this.#put(name, pod);
  }

  remove(ref: FunctionRef, name: string): void {
    endFollowers(this.#podOf(ref, name).current);
    this.#pods.delete(keyOf(ref, name));
    this.#api.store.remove(kinds.pod.plural, ref.namespace, name);
  }

  #podOf(ref: FunctionRef, name: string): Pod {
    const pod = this.#pods.get(keyOf(ref, name));
    if (pod === undefined) throw new Error(`there is no pod "${name}"`);
    return pod;
  }

  #put(name: string, { ref, current, previous }: Pod): void {
    const last = previous && {
      terminated: { exitCode: 1, startedAt: previous.startedAt, finishedAt: current.startedAt },
    };
    const container = {
      name: ref.name,
      restartCount: previous === undefined ? 0 : 1,
      state: { running: { startedAt: current.startedAt } },
      ...(last === undefined ? {} : { lastState: last }),
    };
    const metadata = { namespace: ref.namespace, name, labels: { [functionLabel]: ref.name } };
    const object = { metadata, status: { phase: "Running", containerStatuses: [container] } };
    this.#api.store.write(kinds.pod, object);
  }

  #sendLog({ path, query }: SeenRequest, response: ServerResponse): void {
    const [, namespace = "", name = ""] = /\/namespaces\/([^/]+)\/pods\/([^/]+)\/log$/.exec(path) ?? [];
    const pod = this.#pods.get(`${namespace}/${name}`);
    const container = query.get("previous") === "true" ? pod?.previous : pod?.current;
    if (container === undefined) {
      response
        .writeHead(404, { "content-type": "application/json" })
        .end(JSON.stringify({ kind: "Status", code: 404 }));
      return;
    }
    const since = query.get("sinceTime") ?? "";
    const lines = container.lines.filter(({ time }) => time >= since);
    const tail = Number(query.get("tailLines") ?? lines.length);
    response.writeHead(200, { "content-type": "text/plain" });
    response.flushHeaders();
    response.write(
      lines
        .slice(lines.length - Math.min(tail, lines.length))
        .map(textOf)
        .join(""),
    );
    if (query.get("follow") !== "true") {
      response.end();
      return;
    }
    container.followers.add(response);
    response.on("close", () => container.followers.delete(response));
  }
}

function containerOf(startedAt: string): Container {
  return { startedAt, lines: [], followers: new Set() };
}

function endFollowers({ followers }: Container): void {
  for (const follower of followers) follower.end();
}

function keyOf({ namespace }: FunctionRef, name: string): string {
  return `${namespace}/${name}`;
}

function textOf({ time, text }: { readonly time: string; readonly text: string }): string {
  return `${time} ${text}\n`;
}
