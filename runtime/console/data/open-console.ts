import { PageAddress } from "./address/page-address.ts";
import type { ConsoleData } from "./console-context.ts";
import { pageVisible } from "./look/page-visible.ts";
import { PageTheme } from "./look/theme.ts";
import { Shortcuts } from "./look/shortcuts.ts";
import { GatewayConnection } from "./requests/connection.ts";
import { Requests } from "./requests/requests.ts";
import { SentChanges } from "./sent-change.ts";
import { ConsoleSession } from "./session/console-session.ts";
import { SessionHalf } from "./session/session-half.ts";
import { LiveStream } from "./stream/live-stream.ts";
import { PageClock } from "./time/page-clock.ts";

/** Time for a sign of life, milliseconds. */
const probeTimeout = 5_000;

/** Opens everything that pages use, of one window. */
export function openConsole(window: Window & typeof globalThis): ConsoleData {
  const { document, history, localStorage, location, sessionStorage } = window;
  const fetch: typeof globalThis.fetch = (input, init) => window.fetch(input, init);
  const visible = pageVisible(document);
  const half = new SessionHalf(sessionStorage);
  half.takeFrom(location, history);
  const connection = new GatewayConnection({
    probe: async () =>
      (await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(probeTimeout) })).status === 200,
  });
  const session = new ConsoleSession({ fetch, half, connection });
  const requests = new Requests({ fetch, session, connection });
  const shortcuts = new Shortcuts();
  shortcuts.listenTo(window);
  return {
    session,
    requests,
    connection,
    stream: new LiveStream({ requests, visible }),
    address: new PageAddress({ window }),
    clock: new PageClock(localStorage, visible),
    theme: new PageTheme(localStorage, document.documentElement),
    shortcuts,
    sent: new SentChanges(),
  };
}
