import type { IssuerDocuments } from "../../runtime/core/ports/issuer-documents.ts";
import type { SessionStore } from "../../runtime/core/ports/session-store.ts";
import { buildConsole, type ConsoleParts } from "../../runtime/gateway/auth/build-console.ts";
import { gatewaySettings } from "../../runtime/gateway/settings.ts";
import { readSettings } from "../../runtime/settings/read-settings.ts";
import { openRestPlatform, type RestPlatform } from "./rest-platform.ts";
import { MemorySessionStore } from "./memory/memory-session-store.ts";
import { sendVerbatim } from "./verbatim-request.ts";

export interface TestConsoleOptions {
  readonly app?: Parameters<typeof openRestPlatform>[0];
  readonly store?: SessionStore;
  readonly documents?: IssuerDocuments;
  readonly files?: ConsoleParts["files"];
  /** By name. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Headers by name, or several values of one. */
export type SentHeaders = Readonly<Record<string, string>>;

/** A console as browsers see it. */
export interface BrowsedConsole {
  readonly platform: Pick<RestPlatform, "user" | "password">;
  readonly port: number;
  readonly origin: string;
  /** Sends a request as it is; a body of bytes too, any other as JSON. */
  send(method: string, path: string, headers?: SentHeaders, body?: unknown): Promise<Response>;
}

/** A console's listener beside the REST side of a gateway, both on real ports. */
export interface TestConsole extends BrowsedConsole, AsyncDisposable {
  readonly platform: RestPlatform;
}

/** The console that a gateway of another process serves at a port. */
export function browsedConsole(port: number, platform: BrowsedConsole["platform"]): BrowsedConsole {
  return {
    platform,
    port,
    origin: `http://127.0.0.1:${port}`,
    send: (method, path, headers = {}, body) =>
      sendVerbatim(port, {
        method,
        target: path,
        headers: Object.entries({ accept: "application/json", ...headers }).flat(),
        ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
      }),
  };
}

export async function openTestConsole(options: TestConsoleOptions = {}): Promise<TestConsole> {
  const platform = await openRestPlatform({ edition: "enterprise", ...options.app });
  const built = buildConsole({
    settings: readSettings(gatewaySettings, {
      environment: { secret_mount_path: platform.directory, ...options.settings },
    }),
    // It has a store of its own.
    app: { ...platform.parts, sessions: undefined },
    sessions: options.store ?? new MemorySessionStore(),
    documents: options.documents,
    files: options.files,
    server: { onTooManyConnections: () => {} },
  });
  const port = await built.open({ host: "127.0.0.1", port: 0 });
  return {
    ...browsedConsole(port, platform),
    platform,
    async [Symbol.asyncDispose]() {
      await built.close();
      await platform[Symbol.asyncDispose]();
    },
  };
}

/** A browser with a page of the console: it keeps cookies, and says which page sends what. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  /** What the page knows its session by. */
  half: string | undefined;
  readonly #console: BrowsedConsole;
  readonly #origin: string;

  constructor(opened: BrowsedConsole, origin: string = opened.origin) {
    this.#console = opened;
    this.#origin = origin;
  }

  /** Sends what a page of the console does, with deviations. */
  async send(method: string, path: string, body?: unknown, over: SentHeaders = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await this.#console.send(
      method,
      path,
      {
        host: new URL(this.#origin).host,
        "sec-fetch-site": "same-origin",
        ...(method === "GET" ? {} : { origin: this.#origin }),
        ...(cookie === "" ? {} : { cookie }),
        ...(this.half === undefined ? {} : { "x-weir-session": this.half }),
        ...over,
      },
      body,
    );
    this.take(response);
    return response;
  }

  /** Keeps what a response sets at `/`. */
  take(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*); Path=\/;/.exec(line) ?? [];
      if (name === "") continue;
      if (line.includes("Max-Age=0;")) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    this.half = response.headers.get("x-weir-session") ?? this.half;
  }

  async signIn(): Promise<Response> {
    const { user, password } = this.#console.platform;
    return this.send("POST", "/auth/session", { user, password });
  }
}
