import { signal, type ReadonlySignal } from "@preact/signals";

import { sessionHeader } from "../../../api/names.ts";
import type { NewSession, SessionInfo, ConsoleIssuer } from "../../../api/schemas/iam/session.ts";
import { sendToGateway, failureOfReply, type GatewayAccess } from "../requests/gateway-access.ts";
import { RequestFailure } from "../requests/request-failure.ts";
import type { RequestSession } from "../requests/requests.ts";
import type { SessionHalf } from "./session-half.ts";

/** Who uses the page. */
export type SessionState =
  | { readonly kind: "unknown" }
  /** `before`: who it was, while what they typed is kept. */
  | { readonly kind: "signedOut"; readonly before: SessionInfo | undefined }
  | { readonly kind: "signedIn"; readonly info: SessionInfo };

export interface ConsoleSessionParts extends GatewayAccess {
  readonly half: SessionHalf;
}

/** The session of this tab. */
export class ConsoleSession implements RequestSession {
  readonly #parts: ConsoleSessionParts;
  readonly #state = signal<SessionState>({ kind: "unknown" });
  readonly #changes = signal(0);
  readonly #waiting = new Set<() => void>();

  constructor(parts: ConsoleSessionParts) {
    this.#parts = parts;
  }

  get state(): ReadonlySignal<SessionState> {
    return this.#state;
  }

  /** How often another person signed in: what was read for the one before is read again when this changes. */
  get changes(): ReadonlySignal<number> {
    return this.#changes;
  }

  half(): string | undefined {
    return this.#parts.half.value;
  }

  /** Whether someone signed in at an issuer just now, but not from this tab: on http that does not count here. */
  get cameFromElsewhere(): boolean {
    return this.#parts.half.refused;
  }

  /** To be called before the page leads to an issuer: without it the half that comes back is not taken. */
  beginLogin(): void {
    this.#parts.half.beginLogin();
  }

  /** Address of the gateway, where functions are called; empty until somebody was signed in. */
  get gateway(): string {
    return this.#known(this.#state.value)?.gateway ?? "";
  }

  /** Whether an action is allowed on anything at all: what is not is not offered. */
  may(action: string): boolean {
    return this.#known(this.#state.value)?.actions.includes(action) === true;
  }

  /**
   * Finds out who uses the page.
   * @throws RequestFailure when the gateway does not say it
   */
  async load(): Promise<void> {
    const response = await this.#fetch("GET", "/auth/session", undefined, "find out who is signed in");
    if (response.status === 401) {
      this.#end();
      return;
    }
    if (!response.ok) throw await failureOfReply(this.#parts, response, "find out who is signed in");
    this.#begin((await response.json()) as SessionInfo);
  }

  /**
   * Opens a session.
   * @throws RequestFailure
   */
  async signIn(credentials: NewSession): Promise<void> {
    const response = await this.#fetch("POST", "/auth/session", credentials, "sign in");
    if (response.status === 401)
      throw new RequestFailure("credentials_invalid", "User or password is wrong", { status: 401 });
    if (!response.ok) throw await failureOfReply(this.#parts, response, "sign in");
    const half = response.headers.get(sessionHeader);
    if (half !== null) this.#parts.half.keep(half);
    await this.load();
  }

  /**
   * The issuers that one can sign in at instead, the default one first.
   * @throws RequestFailure
   */
  async issuers(): Promise<readonly ConsoleIssuer[]> {
    const response = await this.#fetch("GET", "/auth/issuers", undefined, "find out where to sign in");
    if (!response.ok) throw await failureOfReply(this.#parts, response, "find out where to sign in");
    return (await response.json()) as readonly ConsoleIssuer[];
  }

  /** Ends the session, here and at the gateway. */
  async signOut(): Promise<void> {
    const response = await this.#fetch("POST", "/auth/logout", undefined, "sign out");
    if (!response.ok) throw await failureOfReply(this.#parts, response, "sign out");
    this.#parts.half.drop();
    this.#state.value = { kind: "signedOut", before: undefined };
  }

  async signedInAgain(stop: AbortSignal | undefined): Promise<void> {
    this.#end();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    stop?.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#waiting.delete(resolve);
  }

  #begin(info: SessionInfo): void {
    const before = this.#known(this.#state.peek());
    this.#state.value = { kind: "signedIn", info };
    if (before !== undefined && before.user !== info.user) this.#changes.value++;
    for (const resolve of this.#waiting) resolve();
  }

  /** Who it is, or was until a moment ago: the page of who has to sign in again stays as it is. */
  #known(state: SessionState): SessionInfo | undefined {
    switch (state.kind) {
      case "signedIn":
        return state.info;
      case "signedOut":
        return state.before;
      default:
        return undefined;
    }
  }

  #end(): void {
    const state = this.#state.peek();
    if (state.kind === "signedOut") return;
    this.#state.value = { kind: "signedOut", before: state.kind === "signedIn" ? state.info : undefined };
  }

  #fetch(method: string, path: string, body: unknown, act: string): Promise<Response> {
    return sendToGateway(this.#parts, { method, path, half: this.half(), body }, act);
  }
}
