import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import type { ClusterConfig } from "../../runtime/adapters/kubernetes/client/cluster-config.ts";
import type { KubeObject } from "../../runtime/adapters/kubernetes/client/kube-types.ts";
import { below, type Random } from "../../scripts/random.ts";
import { KubernetesStore, type StoredEvent } from "./kubernetes-store.ts";

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  /** By `performance.now()`. */
  readonly at: number;
}

/** Active faults; each holds until it is changed. Times are milliseconds. */
export interface KubernetesFaults {
  /** Watches get nothing, not even an end. */
  silent: boolean;
  /** Requests are read but get no response. */
  hangs: boolean;
  /** Delay of each response. */
  delay: ((request: SeenRequest) => number) | undefined;
  /** Age at which connections of watches are reset. */
  dropWatchesAfter: number | undefined;
  /** How a watch from a compacted version is refused. */
  goneAs: "status" | "event";
  /** How many pages of lists after the first fail before one succeeds, and with which status. */
  failPages: { times: number; readonly status: number } | undefined;
  /** An error status instead of the response. */
  refuse: ((request: SeenRequest) => { readonly status: number; readonly retryAfter?: number } | undefined) | undefined;
  /** The request is executed, then its connection is reset. */
  loseAnswer: ((request: SeenRequest) => boolean) | undefined;
  /** Repeats and reorders events. */
  disorder: Random | undefined;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly accepts: (event: StoredEvent) => boolean;
  pending: StoredEvent[];
  readonly sent: StoredEvent[];
}

type Body = Readonly<Record<string, unknown>>;
const pathGrammar =
  /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/([^/]+)(?=\/[^/]))?\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/;

/** The part of an API server that Weir uses, over unencrypted HTTP, without validation of objects, with faults. */
export class KubernetesApi {
  readonly store = new KubernetesStore();
  readonly requests: SeenRequest[] = [];
  /** Responds to requests for logs of pods; absent: they are 404. */
  podLog: ((request: SeenRequest, response: ServerResponse) => void) | undefined;
  readonly faults: KubernetesFaults = {
    silent: false,
    hangs: false,
    delay: undefined,
    dropWatchesAfter: undefined,
    goneAs: "status",
    failPages: undefined,
    refuse: undefined,
    loseAnswer: undefined,
    disorder: undefined,
  };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #watchers = new Set<Watcher>();
  readonly #pages = new Map<string, { readonly items: readonly KubeObject[]; readonly version: number }>();
  readonly #bookmarks: NodeJS.Timeout;
  #port = 0;
  #flushing = false;

  constructor(bookmarkEvery: number) {
    this.#server = createServer((request, response) => void this.#respond(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket)).on("error", () => {});
    });
    this.#bookmarks = setInterval(() => this.#sendBookmarks(), bookmarkEvery);
    this.store.listen((event) => this.#queue(event));
  }

  get config(): ClusterConfig {
    return { server: `http://127.0.0.1:${this.#port}` };
  }

  /** How many watches are open. */
  get watching(): number {
    return this.#watchers.size;
  }

  /** Listens; after `down` at the same address as before. */
  async up(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Resets all connections and refuses new ones. */
  async down(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.resetAll();
    await closed;
  }

  resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    clearInterval(this.#bookmarks);
    if (this.#server.listening) await this.down();
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://api");
    const seen: SeenRequest = {
      method: request.method ?? "",
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      authorization: request.headers.authorization,
      at: performance.now(),
    };
    this.requests.push(seen);
    response.on("error", () => {});
    let text = "";
    try {
      for await (const chunk of request) text += String(chunk);
    } catch {
      return;
    }
    const { hangs, delay, refuse, loseAnswer } = this.faults;
    if (hangs) return;
    if (delay !== undefined) await pause(delay(seen));
    const refused = refuse?.(seen);
    if (refused !== undefined) {
      refuseWith(response, refused.status, "scripted", `the test refuses it`, refused.retryAfter);
      return;
    }
    const lost = loseAnswer?.(seen) ?? false;
    if (seen.path.endsWith("/log") && this.podLog !== undefined) this.podLog(seen, response);
    else if (seen.query.get("watch") === "true") this.#watch(seen, response);
    else this.#act(seen, text === "" ? undefined : (JSON.parse(text) as Body), lost ? undefined : response);
    if (lost) request.socket.resetAndDestroy();
  }

  #act(seen: SeenRequest, body: Body | undefined, response: ServerResponse | undefined): void {
    const [, namespace, plural = "", name, subresource] = pathGrammar.exec(seen.path) ?? [];
    const refuse = (status: number, reason: string, message = reason): void =>
      response === undefined ? undefined : refuseWith(response, status, reason, message);
    const send = (status: number, value: object): void => {
      response?.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    if (name === undefined && seen.method === "GET") return this.#list(seen, plural, namespace, refuse, send);
    const object = body as KubeObject | undefined;
    const known = this.store.get(plural, namespace, name ?? object?.metadata.name ?? "");
    switch (seen.method) {
      case "POST":
        if (known !== undefined && subresource === undefined) return refuse(409, "AlreadyExists", "already exists");
        return send(201, subresource === undefined ? this.store.put(plural, placed(object, namespace)) : { ...body });
      case "PATCH":
        if (known === undefined && !isApply(seen)) return refuse(404, "NotFound", "not found");
        return send(
          200,
          this.store.put(plural, merge(known ?? { metadata: { name, namespace } }, patchOf(body)) as KubeObject),
        );
      case "GET":
        return known === undefined ? refuse(404, "NotFound", "not found") : send(200, known);
      case "PUT": {
        if (known === undefined) return refuse(404, "NotFound", "not found");
        const expected = object?.metadata.resourceVersion;
        if (expected !== undefined && expected !== known.metadata.resourceVersion) return refuse(409, "Conflict");
        return send(200, this.store.put(plural, placed(object, namespace)));
      }
      case "DELETE": {
        if (known === undefined) return refuse(404, "NotFound", "not found");
        const { uid } = (body?.["preconditions"] ?? {}) as { readonly uid?: string };
        if (uid !== undefined && uid !== known.metadata.uid) return refuse(409, "Conflict", "another uid");
        this.store.remove(plural, namespace, name ?? "");
        return send(200, { kind: "Status", status: "Success" });
      }
      default:
        return refuse(405, "MethodNotAllowed");
    }
  }

  #list(
    { query }: SeenRequest,
    plural: string,
    namespace: string | undefined,
    refuse: (status: number, reason: string) => void,
    send: (status: number, value: object) => void,
  ): void {
    const token = query.get("continue");
    const { failPages } = this.faults;
    if (token !== null && failPages !== undefined && failPages.times > 0) {
      failPages.times -= 1;
      return refuse(failPages.status, failPages.status === 410 ? "Expired" : "InternalError");
    }
    const accepts = filterOf(plural, namespace, query);
    const all = this.store.list(plural).filter((object) => accepts({ plural, object }));
    const page = token === null ? { items: all, version: this.store.version } : this.#pages.get(token);
    if (page === undefined) return refuse(410, "Expired");
    const limit = Number(query.get("limit") ?? Number.POSITIVE_INFINITY);
    const metadata = { resourceVersion: String(page.version), continue: "" };
    if (page.items.length > limit) {
      metadata.continue = `${page.version}-${plural}-${this.requests.length}-${page.items.length}`;
      this.#pages.set(metadata.continue, { ...page, items: page.items.slice(limit) });
    }
    // The real one states apiVersion and kind of the list only.
    const items = page.items.slice(0, limit).map(({ apiVersion: _version, kind: _kind, ...item }) => item);
    send(200, { kind: "List", apiVersion: "v1", metadata, items });
  }

  #watch({ path, query }: SeenRequest, response: ServerResponse): void {
    const [, namespace, plural = ""] = pathGrammar.exec(path) ?? [];
    const from = Number(query.get("resourceVersion"));
    const isGone = from < this.store.compactedAt;
    if (isGone && this.faults.goneAs === "status") return refuseWith(response, 410, "Expired", "too old version");
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    if (isGone) {
      const object = { kind: "Status", status: "Failure", reason: "Expired", code: 410, message: "too old" };
      response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
      return;
    }
    const accepts = filterOf(plural, namespace, query);
    const pending = this.store.history.filter((event) => event.version > from && accepts(event));
    const watcher: Watcher = { response, accepts, pending, sent: [] };
    this.#watchers.add(watcher);
    const drop = this.faults.dropWatchesAfter;
    const timers = [
      setTimeout(() => this.faults.silent || response.end(), Number(query.get("timeoutSeconds") ?? 300) * 1_000),
      ...(drop === undefined ? [] : [setTimeout(() => response.socket?.resetAndDestroy(), drop)]),
    ];
    response.on("close", () => {
      for (const timer of timers) clearTimeout(timer);
      this.#watchers.delete(watcher);
    });
    this.#flush(watcher);
  }

  #queue(event: StoredEvent): void {
    for (const watcher of this.#watchers) if (watcher.accepts(event)) watcher.pending.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    // Events of one turn are sent together, so that there is something to reorder.
    setImmediate(() => {
      this.#flushing = false;
      for (const watcher of this.#watchers) this.#flush(watcher);
    });
  }

  #flush(watcher: Watcher): void {
    if (this.faults.silent || watcher.pending.length === 0) return;
    const events = watcher.pending;
    watcher.pending = [];
    const { disorder } = this.faults;
    const batch = disorder === undefined ? events : disordered(events, watcher.sent, disorder);
    watcher.sent.push(...events);
    // In one write: a client cannot notice it if a reset swallows only some of reordered events.
    watcher.response.write(batch.map(({ type, object }) => `${JSON.stringify({ type, object })}\n`).join(""));
  }

  #sendBookmarks(): void {
    if (this.faults.silent) return;
    const metadata = { resourceVersion: String(this.store.version) };
    for (const watcher of this.#watchers) {
      this.#flush(watcher);
      watcher.response.write(`${JSON.stringify({ type: "BOOKMARK", object: { metadata } })}\n`);
    }
  }
}

/** Starts a server that sends bookmarks every `bookmarkEvery` milliseconds. */
export async function openKubernetesApi(bookmarkEvery = 60_000): Promise<KubernetesApi> {
  const api = new KubernetesApi(bookmarkEvery);
  await api.up();
  return api;
}

/** The same events: some are swapped with the next, and some of them or of `before` are repeated. */
function disordered(events: readonly StoredEvent[], before: readonly StoredEvent[], random: Random): StoredEvent[] {
  const mixed = [...events];
  for (let at = 0; at + 1 < mixed.length; at += 1) {
    const [first, second] = [mixed[at], mixed[at + 1]];
    if (first !== undefined && second !== undefined && random() < 0.3) [mixed[at], mixed[at + 1]] = [second, first];
  }
  const known = [...before.slice(-20), ...events];
  for (let times = below(random, 4); times > 0; times -= 1) {
    const repeated = known[below(random, known.length)];
    if (repeated !== undefined) mixed.splice(below(random, mixed.length + 1), 0, repeated);
  }
  return mixed;
}

/** Filters by kind, namespace and a label selector of the form `a=b,c`. */
function filterOf(plural: string, namespace: string | undefined, query: URLSearchParams) {
  const labels = (query.get("labelSelector") ?? "").split(",").filter((part) => part !== "");
  return (event: Pick<StoredEvent, "plural" | "object">): boolean =>
    event.plural === plural &&
    (namespace === undefined || event.object.metadata.namespace === namespace) &&
    labels.every((part) => {
      const [key = "", value] = part.split("=");
      const actual = event.object.metadata.labels?.[key];
      return value === undefined ? actual !== undefined : actual === value;
    });
}

function placed(object: KubeObject | undefined, namespace: string | undefined): KubeObject {
  return { ...object, metadata: { ...object?.metadata, ...(namespace === undefined ? {} : { namespace }) } };
}

/** Converts a patch of RFC 6902 that replaces members of objects into one of RFC 7396. */
function patchOf(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  return (body as readonly { readonly path: string; readonly value: unknown }[]).reduce<unknown>(
    (all, { path, value }) =>
      merge(
        all,
        path
          .split("/")
          .slice(1)
          .reduceRight<unknown>((inside, key) => ({ [key]: inside }), value),
      ),
    {},
  );
}

function isApply({ query }: SeenRequest): boolean {
  return query.has("force");
}

/** RFC 7396. */
function merge(target: unknown, patch: unknown): unknown {
  if (isConditions(target) && isConditions(patch)) return [...target.filter(isNotIn(patch)), ...patch];
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = new Map(Object.entries(typeof target === "object" && target !== null ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, merge(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

function refuseWith(
  response: ServerResponse,
  code: number,
  reason: string,
  message: string,
  retryAfter?: number,
): void {
  const headers = {
    "content-type": "application/json",
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  };
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  response.writeHead(code, headers).end(JSON.stringify(status));
}

interface Condition {
  readonly type: string;
  readonly lastTransitionTime: string;
}

/** Conditions are a list by type: each writer has its own. */
function isConditions(value: unknown): value is readonly Condition[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each: unknown) => typeof each === "object" && each !== null && "lastTransitionTime" in each)
  );
}

function isNotIn(conditions: readonly Condition[]): (condition: Condition) => boolean {
  return ({ type }) => conditions.every((each) => each.type !== type);
}
