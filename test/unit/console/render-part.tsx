import { signal } from "@preact/signals";
import { render, type ComponentChildren } from "preact";

import type { PageAddress } from "../../../runtime/console/data/address/page-address.ts";
import { ConsoleContext, type ConsoleData } from "../../../runtime/console/data/console-context.ts";
import { Shortcuts } from "../../../runtime/console/data/look/shortcuts.ts";
import { GatewayConnection } from "../../../runtime/console/data/requests/connection.ts";
import { Requests } from "../../../runtime/console/data/requests/requests.ts";
import { SentChanges } from "../../../runtime/console/data/sent-change.ts";
import { ConsoleSession } from "../../../runtime/console/data/session/console-session.ts";
import { SessionHalf } from "../../../runtime/console/data/session/session-half.ts";
import { LiveStream } from "../../../runtime/console/data/stream/live-stream.ts";
import { PageClock } from "../../../runtime/console/data/time/page-clock.ts";
import { memoryStorage } from "./memory-storage.ts";
import { openPageDocument, type PageElement } from "./page-document.ts";

/** What the gateway replies to a request; a text is a body of JSON with status 200. */
export type Replies = (method: string, path: string, init: RequestInit) => Response | Promise<Response>;

/** A part that is rendered, with what pages use. */
export interface RenderedPart {
  readonly body: PageElement;
  readonly data: ConsoleData;
  readonly focused: () => string;
  /** Says whether somebody looks at the page: while nobody does, there is no stream. */
  look(isLooking: boolean): void;
  show(part: ComponentChildren): void;
  close(): void;
}

/** Where a request goes. */
export function addressOf(input: RequestInfo | URL): string {
  if (typeof input === "string") return input;
  return input instanceof URL ? input.href : input.url;
}

const nobody: Replies = () => new Response("no reply was prepared", { status: 500 });

/** Where nothing changes the address. */
const still = {
  place: signal({ path: "/ui/", query: new URLSearchParams(), part: "", visit: 0 }),
  go: () => {},
  narrow: () => {},
  takeScroll: () => undefined,
} as unknown as PageAddress;

/** Renders a part as the console does, with a gateway of the test, at a fixed time. */
export function renderPart(
  part: ComponentChildren,
  replies: Replies = nobody,
  now = 0,
  address: PageAddress = still,
  half = new SessionHalf(memoryStorage()),
): RenderedPart {
  const { body, focused, close } = openPageDocument();
  const fetch: typeof globalThis.fetch = async (input, init = {}) =>
    replies(init.method ?? "GET", addressOf(input), init);
  const connection = new GatewayConnection({ probe: async () => true, wait: () => new Promise(() => {}) });
  const session = new ConsoleSession({ fetch, half, connection });
  const requests = new Requests({ fetch, session, connection });
  const visible = signal(false);
  const data: ConsoleData = {
    session,
    connection,
    requests,
    stream: new LiveStream({ requests, visible }),
    address,
    clock: new PageClock(memoryStorage({ "weir-time-zone": "UTC" }), visible, () => now),
    theme: { choice: signal("system"), choose: () => {} } as unknown as ConsoleData["theme"],
    shortcuts: new Shortcuts(),
    sent: new SentChanges(),
  };
  const show = (next: ComponentChildren): void =>
    render(<ConsoleContext.Provider value={data}>{next}</ConsoleContext.Provider>, body as unknown as HTMLElement);
  show(part);
  return {
    body,
    data,
    focused,
    look: (isLooking) => void (visible.value = isLooking),
    show,
    close: () => {
      visible.value = false;
      render(null, body as unknown as HTMLElement);
      close();
    },
  };
}
